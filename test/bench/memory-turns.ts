/** A conversation of many turns with a window that it outgrows again and again. */
import { SUMMARY_REQUEST } from '../../src/shared/domain/compaction.ts';
import { teamScript, type ScriptedRequest } from '../support/scripted-model.ts';
import { openSessionBench, payload } from '../support/session.ts';
import { definePart } from './part.ts';

interface Sizes {
  readonly turns: number;
  /** Characters of each message of the person. */
  readonly characters: number;
}
const WINDOWS = [32_000, 200_000] as const;
/** Approximate, as the relay counts before it knows better. */
const CHARACTERS_PER_TOKEN = 4;

const isSummary = ({ body }: ScriptedRequest) => JSON.stringify(body.messages.at(-1)).includes(SUMMARY_REQUEST);

/** What a talk of so many turns took. Throws if an answer failed, or a request lacks the soul. */
async function talk({ turns, characters }: Sizes, window: number) {
  const bench = await openSessionBench();
  const usual = teamScript();
  const house = await bench.open({
    script: (request) => (isSummary(request) ? [{ say: 'We spoke of the weather.' }] : usual(request)),
  });
  try {
    await house.start({}, { contextTokens: window });
    await house.wake([payload(0)]);
    const answers = () => house.of('message').filter(({ author }) => author === 'agent-0');
    await house.until(() => answers().length === 1);
    let count = 1;
    for (let turn = 0; turn < turns; turn++) {
      await house.post({ text: `${turn} ${'m'.repeat(characters)}`, to: 'agent-0' });
      count += 1;
      await house.until(() => answers().length >= count);
    }
    const failed = answers().filter(({ status }) => status !== 'complete').length;
    if (failed > 0) throw new Error(`${failed} answers failed`);
    const requests = house.requestsOf(1);
    if (!requests.every(({ system }) => system.includes('I am the one in place 0.')))
      throw new Error('a request lacks the soul');
    let [inRow, most] = [0, 0];
    for (const request of requests) {
      inRow = isSummary(request) ? inRow + 1 : 0;
      most = Math.max(most, inRow);
    }
    return {
      compactions: house.of('message').filter(({ compaction }) => compaction !== undefined).length,
      most,
      longest: Math.max(...requests.map(({ body }) => JSON.stringify(body.messages).length)),
    };
  } finally {
    await bench.close();
  }
}

export const memoryTurns = definePart<Sizes>({
  name: 'memory-turns',
  needs: 'relay',
  full: { turns: 2_000, characters: 2_000 },
  smoke: { turns: 30, characters: 30_000 },
  async run(sizes) {
    const figures = [];
    for (const window of WINDOWS) {
      const { compactions, most, longest } = await talk(sizes, window);
      const shown = `window of ${window.toLocaleString('en')} tokens`;
      figures.push(
        {
          what: `${shown}: compactions`,
          value: compactions,
          unit: '' as const,
          beside: { kind: 'least' as const, what: 'it is outgrown', value: 1 },
        },
        {
          what: `${shown}: model calls that an answer waits for`,
          value: most,
          unit: '' as const,
          beside: { kind: 'limit' as const, what: 'one', value: 1 },
        },
        {
          what: `${shown}: characters of the longest conversation sent`,
          value: longest,
          unit: '' as const,
          beside: { kind: 'limit' as const, what: 'the window', value: window * CHARACTERS_PER_TOKEN },
        },
      );
    }
    return {
      title: 'A conversation without end',
      method: `${sizes.turns.toLocaleString('en')} turns of ${sizes.characters.toLocaleString('en')} characters in one session, against a scripted model over HTTP`,
      figures,
      notes: ['No answer failed, and every request had the soul in its system prompt.'],
    };
  },
});
