// What every page with htmx does: prove the form's origin, put a refusal beside the act, keep the focus, say and show
// what changed.
(() => {
  "use strict";

  // The sentences stand in the page, in its language: data-said-404, data-said-other ...
  const sentence = (kind) => {
    const place = document.getElementById("refusals");
    return place.getAttribute(`data-said-${kind}`) || place.dataset.saidOther;
  };

  const SHOWN_FOR = 5000;
  let fading = 0;
  const hush = () => {
    clearTimeout(fading);
    document.getElementById("announcements").textContent = "";
  };
  const say = (words, visibly) => {
    const place = document.getElementById("announcements");
    if (!place || !words) return;
    hush();
    place.classList.toggle("visually-hidden", !visibly);
    setTimeout(() => { place.textContent = words; }, 50); // a change that a screen reader hears
    if (visibly) fading = setTimeout(hush, SHOWN_FOR);
  };

  // A refusal stands in the nearest place that its form keeps for it, else at the top of the page.
  const placeFor = (element) => {
    const near = element && element.closest("form, section, article, .pane, .panel, .criterion");
    return (near && near.querySelector("[data-refusals]")) || document.getElementById("refusals");
  };

  const refuse = (element, words) => {
    const place = placeFor(element);
    const notice = document.createElement("p");
    const strong = document.createElement("strong");
    notice.className = "notice refusal";
    notice.setAttribute("role", "alert");
    strong.textContent = `▲ ${document.getElementById("refusals").dataset.notDone} `;
    notice.append(strong, words);
    place.replaceChildren(notice);
    place.scrollIntoView({ block: "nearest" });
  };

  document.addEventListener("htmx:configRequest", (event) => {
    const token = document.querySelector('meta[name="csrf-token"]');
    if (token && event.detail.verb !== "get") event.detail.headers["X-CSRFToken"] = token.content;
  });

  let focused = null;
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr, target } = event.detail;
    if (!target.matches(".kept")) hush(); // "Saved" is said of the last act alone
    if ([401, 409].includes(xhr.status) && /^\s*<p class="notice refusal" data-refusal[ >]/.test(xhr.responseText)) {
      const place = placeFor(event.detail.requestConfig.elt);
      event.detail.target = place;
      event.detail.swapOverride = "innerHTML";
      setTimeout(() => place.scrollIntoView({ block: "nearest" }), 0);
    } else if (xhr.status < 400) {
      document.querySelectorAll("#refusals, [data-refusals]").forEach((place) => place.replaceChildren());
    }
    const active = document.activeElement;
    focused = active && active !== document.body && event.detail.target.contains(active)
      ? { id: active.id, name: active.name, value: active.value, key: active.dataset.key, target: event.detail.target.id }
      : null;
  });

  // The element that had the focus is gone with the swap: its successor takes it, else the fragment itself.
  document.addEventListener("htmx:afterSettle", (event) => {
    const swapped = event.detail.elt;
    const announced = swapped.matches("[data-says]") ? swapped : swapped.querySelector("[data-says]");
    if (announced) say(announced.dataset.says, "visibly" in announced.dataset);
    const changed = swapped.matches("[data-changed]") ? swapped : swapped.querySelector("[data-changed]");
    if (changed) setTimeout(() => changed.scrollIntoView({ block: "nearest" }), 0); // after htmx has scrolled
    if (!focused || (document.activeElement && document.activeElement !== document.body)) return;
    const within = document.getElementById(focused.target) || swapped;
    const wanted = within.querySelector("[data-focus]")
      || (focused.id && document.getElementById(focused.id))
      || (focused.key && within.querySelector(`[data-key="${CSS.escape(focused.key)}"]`))
      || (focused.name && [...within.querySelectorAll(`[name="${CSS.escape(focused.name)}"]`)]
        .find((element) => element.value === focused.value));
    if (wanted) {
      wanted.focus({ preventScroll: true });
    } else {
      if (!within.hasAttribute("tabindex")) within.setAttribute("tabindex", "-1");
      within.focus({ preventScroll: true });
    }
    focused = null;
  });

  document.addEventListener("htmx:responseError", (event) => {
    const { status } = event.detail.xhr;
    refuse(event.detail.elt, sentence(status));
  });
  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, (event) => refuse(event.detail.elt, sentence("unreachable")));
  }
})();
