/**
 * The end of the session: for a while it can be taken back, in any tab of this browser, and nobody
 * is stopped before that.
 */
import { t } from '../../language/t.ts';
import type { Parts } from './parts.ts';

/** ms in which it can be taken back. */
const UNDO_MS = 10_000;
/** What the tabs of a browser say to each other of it: a word, and a number, so that it is news. */
const SAID = 'roost-ending';
type Word = 'begun' | 'undo' | 'over';

export type EndSession = (when?: 'soon' | 'now') => Promise<void>;

export function createEnding({
  relay,
  device,
  live,
  notices,
  pending,
}: Pick<Parts, 'relay' | 'device' | 'live' | 'notices' | 'pending'>): EndSession {
  /** Takes back what this tab has begun. */
  let callOff: () => void = () => undefined;
  /** Takes away what is shown of another tab's. */
  let withdraw: () => void = () => undefined;
  const say = (word: Word) => void device.browser.write(SAID, `${word} ${device.newId()}`);

  /** Whichever tabs have begun it. */
  function undo(): void {
    callOff();
    withdraw();
    say('undo');
  }

  /** `over`: it may end by itself, or from elsewhere. Returns the way to take it away. */
  function show(over: () => void): () => void {
    const note = notices.info(t`The session ends in ten seconds. Nobody is stopped before that.`, {
      label: t`Undo`,
      run: undo,
    });
    const stop = live.store.subscribe((state) => {
      if (state.live === null) over();
    });
    return () => {
      stop();
      notices.dismiss(note);
    };
  }

  function endSoon(): void {
    const stopTimer = device.after(UNDO_MS, () => void endSession('now'));
    const hide = show(() => callOff());
    callOff = () => {
      callOff = () => undefined;
      stopTimer();
      hide();
      say('over');
      pending.setState({ ending: false });
    };
    pending.setState({ ending: 'soon' });
    say('begun');
  }

  device.hear(SAID, (text) => {
    withdraw();
    const word = text.split(' ')[0];
    if (word === 'undo') callOff();
    if (word !== 'begun' || live.store.getState().live === null) return;
    const hide = show(() => withdraw());
    withdraw = () => {
      withdraw = () => undefined;
      hide();
    };
  });

  const endSession: EndSession = async (when = 'soon') => {
    const { ending } = pending.getState();
    if (ending === 'now') return;
    if (ending === false && when === 'soon') return endSoon();
    callOff();
    pending.setState({ ending: 'now' });
    try {
      const ended = await relay.endSession();
      const nothingRan = !ended.ok && ended.problem.kind === 'refused' && ended.problem.status === 409;
      if (!ended.ok && !nothingRan) notices.refused(ended.problem);
    } finally {
      pending.setState({ ending: false });
    }
  };
  return endSession;
}
