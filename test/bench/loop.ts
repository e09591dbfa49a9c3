/**
 * How long the relay's event loop is held at most while strangers write what takes long to read:
 * everybody else waits so long. Beside a limit for each, and beside the same relay in an ordinary
 * run of an agent.
 */
import { startLongWords } from '../support/long-words.ts';
import type { RelayOrigin } from '../support/relay.ts';
import type { Figure } from './figures.ts';
import { definePart, withOpened } from './part.ts';

const LIMIT_MS = 50;

interface Sizes {
  readonly from: RelayOrigin;
  /** How many of the inputs. */
  readonly inputs: number;
}

/** Half a minute. */
export const loop = definePart<Sizes>({
  name: 'loop',
  needs: 'relay',
  full: { from: 'built', inputs: Infinity },
  smoke: { from: 'sources', inputs: 1 },
  run: (sizes) =>
    withOpened(async (keep) => {
      const words = keep(await startLongWords(sizes.from), (opened) => opened.close());
      const held = async (write: () => Promise<unknown>) => {
        // What is compiled at its first use is not what is measured.
        await write();
        await words.longest();
        await write();
        return await words.longest();
      };
      const ordinary = await held(words.ordinary);
      const figures: Figure[] = [];
      for (const [what, write] of Object.entries(words.inputs).slice(0, sizes.inputs))
        figures.push({
          what,
          value: await held(write),
          unit: 'ms',
          beside: { kind: 'limit', what: 'for which the loop is held', value: LIMIT_MS },
        });
      return {
        title: 'The longest hold of the event loop under text of strangers',
        method:
          'the relay as a process; the time for which its main thread worked between two turns of its loop, looked at every 2 ms; each input once before it is measured',
        figures: [
          ...figures,
          {
            what: 'the worst of them',
            value: Math.max(...figures.map(({ value }) => value)),
            unit: 'ms',
            beside: { kind: 'peer', what: 'an ordinary run of an agent', value: ordinary },
          },
        ],
      };
    }),
});
