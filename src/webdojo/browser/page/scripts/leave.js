// Leaves what Escape leaves in a browser with a window: full screen and the lock on the pointer.
() => {
  // include parts/plain.js
  const held = Boolean(page.fullscreenElement || page.pointerLockElement);
  if (page.fullscreenElement) page.exitFullscreen();
  if (page.pointerLockElement) page.exitPointerLock();
  return held;
}
