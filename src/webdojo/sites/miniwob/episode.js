// Runs after MiniWoB++'s core.js and before the script of the page. It starts the page's one episode at once, from the
// seed in the address and without a time limit, and tells the server what the page asks for and how it ended.
(() => {
  const FOR_EVER_MS = 2 ** 31 - 1; // the longest timeout that a browser takes

  // A page begins its episode when all its pictures are there. Until then this request stays open, so that a browser that
  // waits for the requests of a page does not look at it too early.
  const loading = new AbortController();
  fetch('/loading', {signal: loading.signal}).catch(() => {});

  const report = (said) => fetch('/report', {
    method: 'POST',
    headers: {'Content-Type': 'application/json'},
    body: JSON.stringify({page: location.pathname + location.search, ...said}),
  });

  const utterance = () => {
    const said = core.getUtterance();
    return typeof said === 'string' ? said : said.utterance;
  };

  const begin = () => {
    // A number, as the Python package seeds it: a string would draw another problem.
    Math.seedrandom(Number(core.QueryString.seed || 0));
    core.startEpisodeReal();
    report({utterance: utterance()});
    loading.abort();
  };

  const end = () => {
    core.cover_div.textContent = 'Episode over';
    core.cover_div.style.display = 'block';
    report({raw_reward: Number(WOB_RAW_REWARD_GLOBAL) || 0, reason: String(WOB_REWARD_REASON || '')});
  };

  // Pages set their own limit; here none counts.
  Object.defineProperty(core, 'EPISODE_MAX_TIME', {get: () => FOR_EVER_MS, set: () => {}});
  core.countdownTimer = () => {};

  // The page calls this when it has loaded, and core.js calls it again when the episode has ended.
  core.startEpisode = () => {
    core.createDisplay();
    if (core.cover_div) return end();
    core.cover_div = document.createElement('div');
    core.cover_div.id = 'sync-task-cover';
    document.body.appendChild(core.cover_div);
    begin();
  };

  // Scores and click marks beside the page are for people.
  const style = document.createElement('style');
  style.textContent = '#reward-display, #click-canvas { display: none }';
  document.head.appendChild(style);
})();
