/* What the theme leaves out for people who use a keyboard or a screen reader: whatever scrolls can be focused and has a
   name, and the buttons of code blocks are not navigation. The theme makes both after the page has loaded. */
function amend() {
  for (const nav of document.querySelectorAll("nav.md-code__nav:not([role])")) nav.setAttribute("role", "none");
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset p:has(> img[src$='.svg'])")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}

new MutationObserver(amend).observe(document.body, { childList: true, subtree: true });
window.addEventListener("resize", amend);
window.addEventListener("load", amend);
