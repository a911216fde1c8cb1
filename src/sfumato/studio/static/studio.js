"use strict";

const PAUSE = 400;
const FIELDS = "a[href], button, input:not([type=hidden]), select, textarea, summary";
let saving = null;
let waiting = 0;
let trials = 0;

// Follows a running task, and reloads the page when it has ended.
function followTask() {
  const box = document.getElementById("task");
  if (!box || box.dataset.state !== "running") return;
  const bar = document.getElementById("task-bar");
  const step = document.getElementById("task-step");
  const said = document.getElementById("task-said");
  let quarter = Math.floor(Number(box.dataset.percent) / 25);
  const look = async () => {
    let told;
    try {
      const answer = await fetch("/task", { credentials: "same-origin" });
      told = await answer.json();
    } catch {
      step.textContent = "The studio does not answer. Is it still running?";
      setTimeout(look, 3000);
      return;
    }
    if (told.state !== "running") {
      location.replace(location.pathname + location.search);
      return;
    }
    bar.value = told.percent;
    step.textContent = `${told.step}, ${told.percent}%`;
    // A screen reader hears every quarter, not every tick.
    if (Math.floor(told.percent / 25) > quarter) {
      quarter = Math.floor(told.percent / 25);
      said.textContent = `${told.percent}% done`;
    }
    setTimeout(look, 500);
  };
  setTimeout(look, 300);
}

// Sends a form without leaving the page, and gives the page that comes back.
async function sent(form, address) {
  const answer = await fetch(address, {
    method: "POST",
    body: new URLSearchParams(new FormData(form)),
    credentials: "same-origin",
  });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return { page, ok: answer.ok };
}

// Shows another page in the place of this one; focus, open parts and typed text stay.
function show(page, left) {
  const old = document.querySelector(".frame");
  const made = page.querySelector(".frame");
  const focus = document.activeElement;
  const place = [...old.querySelectorAll(FIELDS)].indexOf(focus);
  const opened = [...old.querySelectorAll("details")].map((each) => each.open);
  old.replaceWith(made);
  document.querySelector(".top").replaceWith(page.querySelector(".top"));
  const parts = [...made.querySelectorAll("details")];
  if (parts.length === opened.length) parts.forEach((each, at) => (each.open = opened[at]));
  if (place < 0) return;
  const same = focus.id ? document.getElementById(focus.id) : made.querySelectorAll(FIELDS)[place];
  const back = same && same.tagName === focus.tagName ? same : document.getElementById(left);
  if (!back) return;
  back.focus();
  if (back === same && focus.type === "text") {
    if (focus.value !== focus.defaultValue && focus.id !== left) back.value = focus.value;
    back.setSelectionRange(focus.selectionStart, focus.selectionEnd);
  }
}

// A button that is being pressed stays until it is let go.
let pressed = false;
addEventListener("pointerdown", () => (pressed = true), true);
for (const kind of ["pointerup", "pointercancel"]) {
  addEventListener(kind, () => setTimeout(() => (pressed = false)), true);
}

function released() {
  if (!pressed) return Promise.resolve();
  return new Promise((go) => addEventListener("pointerup", () => setTimeout(go, 50), { once: true }));
}

// What is sent next is about the policy as it is now.
function takeRevision(page) {
  const now = page.querySelector("input[name=revision]");
  if (!now) return;
  for (const each of document.querySelectorAll("input[name=revision]")) each.value = now.value;
}

async function save(form, left) {
  // A page that came back meanwhile with an error took this form away.
  if (!form.isConnected) return;
  let said = "Not saved: the studio does not answer. Is it still running?";
  try {
    const { page, ok } = await sent(form, form.action);
    await released();
    if (ok && waiting > 1) {
      // More was changed meanwhile, and is saved next: the fields stay as they are.
      takeRevision(page);
      return;
    }
    show(page, left);
    begin();
    said = ok ? "Saved." : "Not saved.";
  } catch {
    // What was typed stays in its field.
  }
  const saved = document.getElementById("saved");
  if (saved) saved.textContent = said;
}

// Saves a form when one of its fields changes, and shows the page that comes back.
function saveChanges(form) {
  form.addEventListener("change", (event) => {
    trials += 1;
    waiting += 1;
    const done = () => {
      waiting -= 1;
      if (!waiting) saving = null;
    };
    // One after the other: each is about the policy that the one before has left.
    saving = (saving || Promise.resolve()).then(() => save(form, event.target.id)).finally(done);
  });
}

// What is sent while a field is being saved waits, and is then about what was saved.
addEventListener("submit", async (event) => {
  if (!saving) return;
  event.preventDefault();
  const form = event.target;
  const button = event.submitter;
  if (button && button.hasAttribute("formaction")) form.action = button.formAction;
  await saving;
  const revision = document.querySelector("input[name=revision]");
  if (form.elements.revision && revision) form.elements.revision.value = revision.value;
  form.hidden = true;
  document.body.append(form);
  form.submit();
});

// Tells whether what is typed can be met, without saving it.
function tryTyped(form) {
  let timer;
  form.addEventListener("input", (event) => {
    if (event.target.type !== "text") return;
    clearTimeout(timer);
    const trial = ++trials;
    timer = setTimeout(async () => {
      if (trial !== trials) return;
      const { page } = await sent(form, form.dataset.try);
      const box = document.getElementById(form.dataset.told);
      if (box && trial === trials) box.replaceChildren(...page.body.childNodes);
    }, PAUSE);
  });
}

// Arrow keys lead through a tree: up and down, into a branch and out of it.
function walkTree(tree) {
  tree.addEventListener("keydown", (event) => {
    const here = event.target;
    const branch = here.tagName === "SUMMARY" ? here.parentElement : null;
    const shown = [...tree.querySelectorAll("summary, a")].filter((each) => each.checkVisibility());
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) shown[shown.indexOf(here) + step]?.focus();
    else if (event.key === "ArrowRight" && branch) branch.open = true;
    else if (event.key === "ArrowLeft" && branch?.open) branch.open = false;
    else if (event.key === "ArrowLeft") {
      here.closest("li")?.parentElement.closest("details")?.firstElementChild.focus();
    } else return;
    event.preventDefault();
  });
}

function begin() {
  for (const form of document.querySelectorAll("form[data-autosave]")) saveChanges(form);
  for (const form of document.querySelectorAll("form[data-try]")) tryTyped(form);
  for (const tree of document.querySelectorAll(".tree")) walkTree(tree);
  followTask();
}

begin();
