/**
 * Browsers without Web Locks (Safari before 15.4, say): nothing tells one tab when another is gone, so one
 * tab works, with a worker that nobody else speaks to, and the others say so and wait for it to leave.
 */
import type { After } from '../../domain/platform/timers.ts';
import { OWNER_LINE } from '../settings.ts';
import type { Line, LineEnds } from './client.ts';
import { startSoleWorker } from './sole-worker.ts';

const OTHER_TAB =
  'Roost is open in another tab, and this browser cannot share it between tabs. Use the other tab, or close it: this one goes on by itself. A newer browser can have as many tabs as you like.';

/** Between tabs: I would like to work; I do; I am leaving. */
interface Claim {
  readonly tab: string;
  readonly say: 'asks' | 'works' | 'leaves';
}
const isClaim = (data: unknown): data is Claim =>
  typeof data === 'object' &&
  data !== null &&
  'tab' in data &&
  typeof data.tab === 'string' &&
  'say' in data &&
  (data.say === 'asks' || data.say === 'works' || data.say === 'leaves');

export interface SoleDeps {
  readonly newId: () => string;
  readonly after: After;
}

export function soleLines({ newId, after }: SoleDeps): (ends: LineEnds) => Line {
  return (ends) => {
    const tab = newId();
    const channel = new BroadcastChannel(OWNER_LINE.channel);
    const say = (what: Claim['say']) => channel.postMessage({ tab, say: what } satisfies Claim);
    let line: Line | null = null;
    let cancel: () => void = () => undefined;
    let closed = false;

    /** Works unless somebody objects in time. Of two that ask at once the lower id goes first. */
    function ask() {
      cancel();
      say('asks');
      cancel = after(OWNER_LINE.objection, () => {
        if (closed || line) return;
        say('works');
        line = startSoleWorker(ends);
      });
    }
    function wait() {
      cancel();
      ends.take({ news: 'problem', problem: { kind: 'unsupported', detail: OTHER_TAB } });
    }
    channel.addEventListener('message', ({ data }) => {
      if (!isClaim(data) || closed) return;
      const { say: said, tab: other } = data;
      if (line) {
        if (said === 'asks') say('works');
      } else if (said === 'leaves') ask();
      else if (said === 'works' || other < tab) wait();
      else say('asks');
    });
    const leave = () => {
      if (line) say('leaves');
    };
    addEventListener('pagehide', leave);
    ask();
    return {
      send: (message) => line?.send(message),
      close() {
        closed = true;
        cancel();
        leave();
        line?.close();
        removeEventListener('pagehide', leave);
        channel.close();
      },
    };
  };
}
