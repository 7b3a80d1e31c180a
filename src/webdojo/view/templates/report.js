// A click on a frame shows it large; Escape or another click closes it.
const dialog = document.querySelector("dialog");
document.addEventListener("click", (event) => {
  const screen = event.target.closest(".screen");
  if (dialog.open) dialog.close();
  else if (screen) {
    const large = screen.cloneNode(true);
    const { width, height } = screen.querySelector("img");
    large.style.maxWidth = `${(92 * width) / height}vh`;
    dialog.replaceChildren(large);
    dialog.showModal();
  }
});
