/** Time as an argument: what the stream needs of it, and the real thing. */

export interface Timers {
  /** Calls `run` once after `ms`. Returns the way to call it off. */
  after(ms: number, run: () => void): () => void;
}

export const realTimers: Timers = {
  after(ms, run) {
    const handle = setTimeout(run, ms);
    return () => clearTimeout(handle);
  },
};
