// Menus in the bar close on Esc and on a press elsewhere; the tab of this page is scrolled into view.
(() => {
  "use strict";

  const openMenus = () => [...document.querySelectorAll("details.menu[open]")];

  document.addEventListener("keydown", (event) => {
    const [menu] = openMenus();
    if (event.key !== "Escape" || event.isComposing || !menu) return;
    event.preventDefault();
    menu.open = false;
    menu.querySelector("summary").focus();
  });

  document.addEventListener("click", (event) => {
    for (const menu of openMenus()) if (!menu.contains(event.target)) menu.open = false;
  });

  const tab = document.querySelector(".bar-nav [aria-current]");
  const tabs = tab && tab.closest("ul");
  if (tabs) {
    const room = tabs.getBoundingClientRect();
    const place = tab.getBoundingClientRect();
    tabs.scrollLeft += place.left + place.width / 2 - room.left - room.width / 2;
  }
})();
