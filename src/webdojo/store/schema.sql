-- run.sqlite: what one run remembers. `PRAGMA user_version` is the version of this schema.
-- Times are Unix seconds. Ask it anything, also while the run goes on, for example:
--   SELECT phase, iteration, avg(success), avg(steps) FROM trajectories WHERE valid GROUP BY 1, 2;
--   SELECT step, record ->> 'reward' FROM metrics WHERE phase = 'rl';

-- One row a finished episode; the columns repeat what queries need from the record.
CREATE TABLE trajectories (
    seq             INTEGER PRIMARY KEY,   -- order of arrival
    id              TEXT NOT NULL UNIQUE,  -- Trajectory.id
    phase           TEXT NOT NULL,         -- as the loop names it: rl, eval_base, ...
    iteration       INTEGER NOT NULL,
    group_id        TEXT NOT NULL,         -- Trajectory.group: the same task tried G times
    task_id         TEXT NOT NULL,
    website         TEXT NOT NULL,         -- host name
    kind            TEXT NOT NULL,         -- shop, wiki, ...; empty outside the embedded web
    difficulty      INTEGER NOT NULL,
    termination     TEXT NOT NULL,         -- types.Termination
    reward          REAL,                  -- NULL: not scored
    success         INTEGER,               -- 0 or 1
    valid           INTEGER,               -- 0: infrastructure failed, so it trains nothing
    steps           INTEGER NOT NULL,
    response_tokens INTEGER NOT NULL,      -- sampled tokens of all turns
    created         REAL NOT NULL,
    record          BLOB NOT NULL          -- zlib over JSON in UTF-8 (`record.py`)
);
CREATE INDEX trajectories_by_phase ON trajectories (phase, iteration);
CREATE INDEX trajectories_by_task ON trajectories (task_id);

-- One row a training step or iteration: a JSON object of numbers (null: not a finite number).
CREATE TABLE metrics (
    phase   TEXT NOT NULL,
    step    INTEGER NOT NULL,
    created REAL NOT NULL,
    record  TEXT NOT NULL,
    PRIMARY KEY (phase, step)
);

-- Small JSON values by name: the loop's progress, the result.
CREATE TABLE kv (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
