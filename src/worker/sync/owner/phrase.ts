/**
 * The recovery phrase, as tabs ask for it: made, tried, looked at again, and used where no device
 * is left.
 */
import { sentence } from '../../../shared/domain/sentence.ts';
import type { RandomBytes } from '../contract.ts';
import type { SyncAnswers } from '../../../shared/protocol/sync/methods.ts';
import { deviceKeys, newPhrase, recoveryOf } from '../crypto/index.ts';
import { SYNC_OWNER } from '../settings.ts';
import { readKeyGrant } from './key-grant.ts';
import type { SyncRelay } from './ports.ts';
import type { Shared } from './contract.ts';
import type { Welcoming } from './welcoming.ts';

export const IS_SHARED = sentence`This browser is one of a household’s devices already.`;

export interface PhraseDeps {
  readonly relay: Pick<SyncRelay, 'recovery'>;
  readonly random: RandomBytes;
  /** ms since the epoch */
  readonly now: () => number;
  /** Throws a sentence where this browser is not one of a household's devices. */
  readonly shared: () => Shared;
  /** Is there nobody here whom another household would take the place of? */
  readonly mayRestore: () => boolean;
  readonly enter: (welcome: Welcoming, seed: Uint8Array, name: string) => Promise<void>;
  /** The status may have changed. */
  readonly onKept: () => void;
}

export function createPhraseAnswers({
  relay,
  random,
  now,
  shared,
  mayRestore,
  enter,
  onKept,
}: PhraseDeps): Pick<SyncAnswers, 'makePhrase' | 'keepPhrase' | 'checkPhrase' | 'restore'> {
  /** One that was shown and not yet tried. */
  let phrase: readonly string[] | null = null;

  return {
    async makePhrase() {
      shared();
      phrase = newPhrase(random).words;
      return { words: phrase };
    },
    async keepPhrase({ answers: given }) {
      const words = phrase;
      if (words === null) throw new Error(sentence`Make a phrase first.`);
      const wrong = given.find(({ position, word }) => words[position - 1] !== word.trim().toLowerCase());
      if (wrong) throw new Error(sentence`Word ${wrong.position} is another one. Look at what you wrote down.`);
      if (given.length === 0) throw new Error(sentence`Type the words that were asked for.`);
      const made = recoveryOf(words.join(' '));
      if (!made.ok) throw new Error(made.reason);
      await shared().keyRotation.keepRecovery({ id: made.id, boxKey: made.boxKey });
      phrase = null;
      onKept();
      return null;
    },
    async checkPhrase({ phrase: typed }) {
      const read = recoveryOf(typed);
      if (!read.ok) throw new Error(read.reason);
      return { good: shared().keys.membership().recovery?.id === read.id };
    },
    async restore({ phrase: typed, deviceName }) {
      if (!mayRestore()) throw new Error(IS_SHARED);
      const read = recoveryOf(typed);
      if (!read.ok) throw new Error(read.reason);
      const answer = await relay.recovery({ recovery: read.id });
      if (!answer.ok)
        throw new Error(
          answer.status === 404
            ? sentence`This relay knows no household with this phrase. Is it the relay that your devices used, and the newest phrase you made?`
            : answer.reason,
        );
      const opened = read.open(answer.value.box);
      const handed = opened === null ? null : readKeyGrant(opened);
      if (handed === null || handed.keys.household !== answer.value.household)
        throw new Error(
          sentence`What the relay keeps for this phrase cannot be opened: it was changed, or a newer Roost wrote it.`,
        );
      const seed = random(SYNC_OWNER.seedBytes);
      const recovery = {
        id: read.id,
        boxKey: read.boxKey,
        box: answer.value.box,
        by: deviceKeys(seed).deviceId,
        time: now(),
      };
      await enter({ ...handed, rotations: [], recovery, devices: [], tips: [], letIn: null }, seed, deviceName);
      return null;
    },
  };
}
