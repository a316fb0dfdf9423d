// One key beside each act: an element with data-key="4" is pressed by that key. Keys rest while somebody types or fills
// in a form, while a key is held down, and while a word is being composed; "?" lists them; they can be switched off, and
// stay off.
//
// A form that opens (details data-form) takes the focus, and Esc closes it, what was written kept. While one is open
// that says so (data-rests-keys), a key might be meant as a word: all others rest.
(() => {
  "use strict";

  const REMEMBERED = "consilium-keys";
  const TYPING = 'input:not([type="button"], [type="submit"], [type="checkbox"], [type="radio"]), textarea, select, [contenteditable]';
  const FILLING_IN = ':is(input[type="checkbox"], input[type="radio"]):is(form:has(textarea) *)';
  const FIRST_FIELD = 'input:not([type="hidden"]), textarea';
  const dialog = document.getElementById("keys");

  const areOff = () => {
    try { return localStorage.getItem(REMEMBERED) === "off"; } catch { return false; }
  };
  const remember = (off) => {
    try { localStorage.setItem(REMEMBERED, off ? "off" : "on"); } catch { /* a browser that keeps nothing */ }
  };

  // Digits by their place (French keyboards have them under Shift), letters by their place where the script isn't Latin.
  const keyOf = (event) => {
    const digit = /^(?:Digit|Numpad)([0-9])$/.exec(event.code);
    if (digit) return digit[1];
    const letter = /^Key([A-Z])$/.exec(event.code);
    return letter && !/^[\x20-\x7e]$/.test(event.key) ? letter[1].toLowerCase() : event.key.toLowerCase();
  };

  const shown = (element) => !element.disabled && element.checkVisibility();
  const openForm = () => [...document.querySelectorAll("details[data-rests-keys][open]")].find(shown);
  const keyed = () => (openForm() ? [] : [...document.querySelectorAll("[data-key]")].filter(shown));
  const nameOf = (element) => element.dataset.keyName || element.getAttribute("aria-label")
    || [...element.childNodes].filter((node) => node.nodeName !== "KBD").map((node) => node.textContent.trim())
      .filter(Boolean).join(", ");

  const list = () => {
    const place = dialog.querySelector("[data-keys-list]");
    place.replaceChildren(...keyed().flatMap((element) => {
      const key = document.createElement("kbd");
      const name = document.createElement("span");
      key.textContent = element.dataset.key.toUpperCase();
      name.textContent = nameOf(element);
      return [key, name];
    }));
    if (!place.childElementCount) place.textContent = openForm() ? place.dataset.formIsOpen : place.dataset.none;
  };

  const showSwitch = () => {
    const button = dialog.querySelector("[data-switches-keys]");
    button.textContent = areOff() ? button.dataset.switchOn : button.dataset.switchOff;
    document.documentElement.toggleAttribute("data-keys-off", areOff());
  };

  const open = () => {
    list();
    showSwitch();
    if (!dialog.open) dialog.showModal();
  };

  const enter = (form) => {
    if (!form.open) return;
    const field = form.querySelector("input:checked") || form.querySelector(FIRST_FIELD);
    if (!field) return;
    field.focus();
    if (field.matches("textarea")) field.setSelectionRange(field.value.length, field.value.length);
    form.scrollIntoView({ block: "nearest" });
  };

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.repeat || event.isComposing || event.keyCode === 229) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!(event.target instanceof Element) || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") {
      const form = event.target.closest("details[data-form][open]") || openForm();
      if (!form) return;
      event.preventDefault();
      form.open = false;
      form.querySelector("summary").focus();
      return;
    }
    if (event.target.closest(TYPING) || event.target.matches(FILLING_IN)) return;
    if (event.key === "?" || event.key === "؟") {
      event.preventDefault();
      open();
      return;
    }
    if (areOff()) return;
    const pressed = keyOf(event);
    const wanted = keyed().find((element) => element.dataset.key.toLowerCase() === pressed);
    if (!wanted) return;
    event.preventDefault();
    wanted.focus({ preventScroll: true });
    wanted.click();
  });

  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const summary = event.target.closest("details[data-form] > summary");
    if (summary) setTimeout(() => enter(summary.parentElement), 0); // after the browser has opened it
    if (event.target.closest("[data-opens-keys]")) open();
    if (event.target.closest("[data-switches-keys]")) {
      remember(!areOff());
      showSwitch();
    }
  });

  showSwitch();
  if (document.querySelector("[data-key]")) {
    document.querySelectorAll("[data-opens-keys]").forEach((button) => { button.hidden = false; });
  }
})();
