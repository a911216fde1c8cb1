"use strict";

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

// Saves a form when one of its fields changes, and shows the page that comes back.
function saveChanges(form) {
  form.addEventListener("change", async (event) => {
    const field = event.target.id;
    const answer = await fetch(form.action, {
      method: "POST",
      body: new URLSearchParams(new FormData(form)),
      credentials: "same-origin",
    });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.querySelector(".frame").replaceWith(page.querySelector(".frame"));
    document.querySelector(".top").replaceWith(page.querySelector(".top"));
    begin();
    const back = field && document.getElementById(field);
    if (back) back.focus();
    const saved = document.getElementById("saved");
    if (saved) saved.textContent = answer.ok ? "Saved." : "Not saved.";
  });
}

function begin() {
  for (const form of document.querySelectorAll("form[data-autosave]")) saveChanges(form);
  followTask();
}

begin();
