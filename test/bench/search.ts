/**
 * The search over 100,000 messages: its index built by the owner of a real profile, in the
 * background, and asked as somebody types.
 */
import type { Page } from 'playwright-core';
import type {} from '../support/bench-page/main.ts';
import { messageDoc } from '../support/documents.ts';
import type { HouseholdPlan } from '../support/household-generator.ts';
import { watchHeldUp } from '../support/held-up.ts';
import { buildPage, servePage } from '../support/page-server.ts';
import { createRandom } from '../support/random.ts';
import { percentile } from './figures.ts';
import { definePart, withOpened } from './part.ts';
import { SMALL } from './place.ts';
import { workerMemory } from './worker-memory.ts';

const SEED = 1;
/**
 * The household; besides, messages in a script without spaces; sentences that are typed; ms for
 * which an owner is asked that has nothing to build. `ROOST_BENCH_SEARCH` names another number of
 * messages.
 */
const FULL = {
  plan: { seed: SEED, messages: Number(process.env['ROOST_BENCH_SEARCH'] ?? 100_000) } as HouseholdPlan,
  ...{ unspaced: 1_000, sentences: 8, calmMs: 20_000 },
};
const SMOKE: typeof FULL = { plan: SMALL, ...{ unspaced: 2, sentences: 1, calmMs: 20 } };
const LIMIT = { resultsMs: 50, blockMs: 50, diskMb: 60, memoryMb: 40 } as const;
const MB = 1_000_000;
const SIGNS = '日月火水木金土山川田人口車門東西南北京都大小中学校先生花草犬猫鳥魚のをにはがでとも';

/** What stands in the field while these words are typed, from the second letter on. */
const typing = (words: string): readonly string[] =>
  Array.from({ length: words.length - 1 }, (_, i) => words.slice(0, i + 2)).filter((text) => !text.endsWith(' '));

const PEERS = ['minisearch', 'flexsearch'] as const;

/** What a library that holds its index in memory takes for the same. */
async function peerFigures(
  page: Page,
  peer: (typeof PEERS)[number],
  { sentences, documents }: { readonly sentences: readonly string[]; readonly documents: number },
): Promise<string> {
  const session = await page.context().newCDPSession(page);
  const used = async () => {
    await session.send('HeapProfiler.collectGarbage');
    return (await session.send('Runtime.getHeapUsage')).usedSize;
  };
  const before = await used();
  const ms = await page.evaluate((name) => window.bench.buildPeer(name), peer);
  const memory = (await used()) - before;
  const asked = await page.evaluate((given) => window.bench.searchPeer(given), sentences);
  await page.evaluate(() => window.bench.dropPeer());
  await session.detach();
  const p95 = percentile(asked.ms, 0.95).toFixed(1);
  return `${peer} over ${documents.toLocaleString('en')} texts: p95 ${p95} ms for the same words as they are typed, ${asked.found} of ${asked.ms.length} found something; ${Math.round(memory / MB)} MB in memory for as long as it is there; built in one block of ${(ms / 1_000).toFixed(1)} s`;
}

export const search = definePart({
  name: 'search',
  needs: 'browser',
  full: FULL,
  smoke: SMOKE,
  run: (sizes, place) =>
    withOpened(async (keep) => {
      const random = createRandom(SEED);
      const pick = <T>(of: readonly T[]): T | undefined => of[Math.floor(random() * of.length)];
      const run = (length: number) => Array.from({ length }, () => pick([...SIGNS]) ?? '').join('');
      const signs = Array.from({ length: sizes.unspaced }, () => `${run(30)}。${run(20)}`);
      const { messages } = sizes.plan;
      const { profile, port } = keep(await place.prepare(sizes.plan), (household) => household.profile.remove());
      const server = keep(await servePage(await buildPage('bench-page'), undefined, { port }), (one) => one.close());
      const context = await profile.open();
      const page = await context.newPage();
      await page.goto(server.url);
      await page.evaluate(
        (docs) => window.bench.append(docs),
        signs.map((text, n) => messageDoc(n, { agentId: 'lead', blocks: [{ kind: 'text', text }] })),
      );
      await page.evaluate(() => window.bench.rest());
      // The owner ends with its only tab: what it files is not measured with the index.
      await page.goto('about:blank');
      await page.goto(server.url);
      await page.evaluate(() => window.bench.dropIndex());
      await page.evaluate(() => window.bench.open());
      const endBuilding = await watchHeldUp(context, 'owner');
      const built = await page.evaluate(() => window.bench.buildIndex());
      const building = await endBuilding();
      const bytes = await page.evaluate(() => window.bench.indexBytes());
      await page.evaluate(() => window.bench.rest());
      const before = await workerMemory(context);
      const far = await page.evaluate((most) => window.bench.wordsFrom('agent-1', most), messages / 20);
      const typed = Array.from({ length: sizes.sentences }, () => {
        const words = pick(far)?.split(/\s+/) ?? [];
        return words.slice(2, 7).join(' ');
      });
      const ask = async (texts: readonly string[]) => page.evaluate((given) => window.bench.search(given), texts);
      // As the palette does when it opens.
      await ask(['']);
      const first = await ask(typed.slice(0, 1));
      const sentences = await ask(typed.flatMap(typing));
      const unspaced = await ask(signs.slice(0, 40).map((text, n) => text.slice(n % 9, (n % 9) + 2 + (n % 5))));
      const wrong = await ask(
        typed.flatMap((words) => {
          const word = words.split(' ').find(({ length }) => length > 5) ?? 'kalomiren';
          return [`${word.slice(0, 2)}x${word.slice(3)}`, `${word.slice(0, 3)}${word.slice(4)}`];
        }),
      );
      const after = await workerMemory(context);
      // The same opening, with the index there already.
      await page.goto('about:blank');
      await page.goto(server.url);
      await page.evaluate(() => window.bench.open());
      const endCalm = await watchHeldUp(context, 'owner');
      const calm = await page.evaluate((ms) => window.bench.waits(ms), sizes.calmMs);
      const resting = await endCalm();
      const peers = [];
      const documents = await page.evaluate(() => window.bench.readTexts());
      for (const peer of PEERS)
        peers.push(await peerFigures(page, peer, { sentences: typed.flatMap(typing), documents }));
      await context.close();
      const count = messages.toLocaleString('en');
      const results = (what: string, { ms, found }: typeof sentences) => ({
        what: `first results, ${what}, p95`,
        value: percentile(ms, 0.95),
        unit: 'ms' as const,
        beside: {
          kind: 'limit' as const,
          what: `${found} of ${ms.length} found something; median ${percentile(ms, 0.5).toFixed(1)} ms`,
          value: LIMIT.resultsMs,
        },
      });
      return {
        title: `Search over ${count} messages`,
        method: `a household of seed ${SEED} and ${sizes.unspaced.toLocaleString('en')} messages in a script without spaces, in a real profile; asked from a tab, letter by letter`,
        figures: [
          results('words as they are typed', sentences),
          results('parts of runs without spaces', unspaced),
          results('words with a typing error', wrong),
          {
            what: 'the very first, after the palette was opened',
            value: first.ms[0] ?? Number.NaN,
            unit: 'ms',
            beside: { kind: 'limit', what: '', value: LIMIT.resultsMs },
          },
          {
            what: 'longest block of the owner while the index is built',
            value: building.longest,
            unit: 'ms',
            beside: {
              kind: 'limit',
              what: `of the processor; where it is there already ${resting.longest.toFixed(1)} ms`,
              value: LIMIT.blockMs,
            },
          },
          {
            what: 'longest wait for an answer of the owner meanwhile',
            value: Math.max(...built.waits),
            unit: 'ms',
            beside: {
              kind: 'limit',
              what: `p95 of ${built.waits.length} calls ${percentile(built.waits, 0.95).toFixed(1)} ms; where it is there already p95 ${percentile(calm, 0.95).toFixed(1)}, longest ${Math.max(...calm).toFixed(1)} ms`,
              value: LIMIT.blockMs,
            },
          },
          {
            what: 'index on disk',
            value: bytes / MB,
            unit: 'MB',
            beside: { kind: 'limit', what: '', value: LIMIT.diskMb },
          },
          {
            what: 'memory of the worker for the searches',
            value: Math.max(0, after.used - before.used) / MB,
            unit: 'MB',
            beside: {
              kind: 'limit',
              what: `JavaScript and buffers after garbage collection, beside ${Math.round(before.used / MB)} MB before`,
              value: LIMIT.memoryMb,
            },
          },
          { what: 'the index built anew, in the background', value: built.ms / 1_000, unit: 's', beside: null },
        ],
        notes: peers,
      };
    }),
});
