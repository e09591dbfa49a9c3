/** A wall clock that is ahead, for a relay that is a process of its own. */

/** For its environment. `ms`: so much later than it is. */
export const clockAhead = (ms: number): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`
    const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...given) {
        super(...(given.length === 0 ? [Real.now() + ${ms}] : given));
      }
      static now() {
        return Real.now() + ${ms};
      }
    };`)}`,
});
