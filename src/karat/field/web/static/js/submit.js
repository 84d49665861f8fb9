/**
 * The last page: send the form to the platform once, and copy the completion code on request.
 */

for (const form of document.querySelectorAll("form.submit-back")) {
  form.addEventListener("submit", () => {
    for (const button of form.querySelectorAll("button")) button.disabled = true;
  });
  form.requestSubmit();
}

for (const button of document.querySelectorAll("button[data-copy]")) {
  button.addEventListener("click", async () => {
    const code = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(code.textContent.trim());
      button.textContent = button.dataset.copied;
    } catch {
      // Without permission to use the clipboard, select the code so that it can be copied by hand.
      window.getSelection().selectAllChildren(code);
    }
  });
}
