// A locked pointer that moves floods Chromium with further moves of it, until no page answers any more.
addEventListener('pointerlockchange', () => setTimeout(() => document.exitPointerLock()), true);
