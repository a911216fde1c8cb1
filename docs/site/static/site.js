// Name the two side bars apart, and let the keyboard scroll what is wider than the page.
document.addEventListener("DOMContentLoaded", () => {
  const label = (selector, text) => {
    const found = document.querySelector(selector);
    if (found) found.setAttribute("aria-label", text);
  };
  label("aside.sidebar-drawer", "Site");
  label("aside.toc-drawer", "This page");
  for (const each of document.querySelectorAll("pre, .table-wrapper")) {
    each.setAttribute("tabindex", "0");
  }
});
