/**
 * An agent that recalls after ten years: `recall` at the relay, which asks an open page, the same
 * search in the page, the index on disk and in memory, what a WAKE carries, and the reload of the
 * page. Each figure stands beside that of a household of 1,000 messages.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type {} from '../support/bench-page/main.ts';
import { AGENTS, type HouseholdPlan } from '../support/household-generator.ts';
import { buildPage, servePage } from '../support/page-server.ts';
import { startScriptedModel, teamScript } from '../support/scripted-model.ts';
import { createVisitor } from '../support/visitor.ts';
import { median, percentile, type Figure } from './figures.ts';
import { watchGrid } from './grid-watch.ts';
import { reloaded } from './page-steps.ts';
import { definePart, withOpened } from './part.ts';
import { SMALL, type BenchHousehold, type Place } from './place.ts';
import { workerMemory } from './worker-memory.ts';

const SEED = 1;
/** Ten years of a household that has about 300 sessions a year. */
const TEN_YEARS = { seed: SEED, messages: 1_000_000, sessions: 3_000 };
/**
 * Households, the first of which is the peer of the others; questions; reloads and payloads, each
 * after those that are not counted. `ROOST_BENCH_SIZES` names other households.
 */
const FULL = {
  plans: (process.env['ROOST_BENCH_SIZES']?.split(',').map((size) => ({ seed: SEED, messages: Number(size) })) ?? [
    { seed: SEED, messages: 1_000 },
    { seed: SEED, messages: 100_000 },
    TEN_YEARS,
  ]) as readonly HouseholdPlan[],
  ...{ questions: 60, warmUp: 1, reloads: 9, wakes: 15 },
  /** ms after the WAKE, while the page writes what it brought. The first question comes before. */
  settleMs: 10_000,
  /** ms until the page shows entries that wait for the relay, and until it has all of them. */
  waitingShownMs: 75_000,
  handedOverMs: 20 * 60_000,
};
const SMOKE: typeof FULL = {
  plans: [SMALL],
  ...{ questions: 10, warmUp: 0, reloads: 1, wakes: 1 },
  settleMs: 0,
  waitingShownMs: 0,
  handedOverMs: 60_000,
};
type Sizes = typeof FULL;
/** At most this many messages behind: the bars of 8.8. */
const BARS = [
  { messages: 100_000, pageMs: 50, relayMs: 150 },
  { messages: Infinity, pageMs: 100, relayMs: 250 },
] as const;
const LIMIT = { ratio: 1.3, wakeMs: 50, diskMb: 400, memoryMb: 60 } as const;
const MB = 1_000_000;
const CAP = 24_000;
/** The agent that recalls: its seat as people count. */
const AGENT = 'agent-1';
const SEAT = 2;
const ASKED = 'Recall it.';
/** An answer has so many calls, within the turns that one may have. */
const CALLS_OF_ANSWER = 16;

interface Measured {
  readonly messages: number;
  readonly inPage: readonly number[];
  readonly atRelay: readonly number[];
  /** The same call of a tool that asks no page. */
  readonly bare: readonly number[];
  /** The calls of the first answer, right after the WAKE of eight. */
  readonly atWake: readonly number[];
  readonly found: number;
  readonly wake: number;
  readonly reload: number;
  readonly disk: number;
  readonly memory: number;
}

/** The owner without the page: the index is built here, and what follows finds it. */
async function throughOwner({ profile, port }: BenchHousehold, plan: HouseholdPlan, sizes: Sizes) {
  const server = await servePage(await buildPage('bench-page'), undefined, { port });
  const context = await profile.open();
  try {
    const page = await context.newPage();
    await page.goto(server.url);
    await page.evaluate(() => window.bench.open());
    await page.evaluate(() => window.bench.buildIndex());
    await page.evaluate(() => window.bench.rest());
    const before = await workerMemory(context);
    const far = await page.evaluate(({ agent, most }) => window.bench.wordsFrom(agent, most), {
      agent: AGENT,
      most: plan.messages / 20,
    });
    // A message of a word or two would make an empty question.
    const asked = far.map((text) => text.split(/\s+/).slice(2, 7)).filter((words) => words.length > 1);
    const questions = Array.from({ length: sizes.questions }, (_none, n) =>
      (asked[n % asked.length] ?? ['kalomiren']).join(' '),
    );
    await page.evaluate(() => window.bench.search(['']));
    const { ms } = await page.evaluate((texts) => window.bench.search(texts), questions);
    const after = await workerMemory(context);
    const agentIds = AGENTS.map(({ agentId }) => agentId);
    const wakes: number[] = [];
    for (let n = 0; n < sizes.warmUp + sizes.wakes; n++)
      wakes.push(
        (await page.evaluate(({ agentIds, cap }) => window.bench.wakePayload(agentIds, cap), { agentIds, cap: CAP }))
          .ms,
      );
    const bytes = await page.evaluate(() => window.bench.indexBytes());
    return {
      questions,
      inPage: ms,
      wake: median(wakes.slice(sizes.warmUp)),
      disk: bytes / MB,
      memory: Math.max(0, after.used - before.used) / MB,
    };
  } finally {
    await context.close();
    await server.close();
  }
}

/** The real page on its relay, and a model whose agent calls `recall` again and again. */
const throughRelay = (
  { profile, port }: BenchHousehold,
  questions: readonly string[],
  { warmUp, reloads, settleMs, waitingShownMs, handedOverMs }: Sizes,
  place: Place,
) =>
  withOpened(async (keep) => {
    const model = keep(await startScriptedModel(teamScript()), (one) => one.close());
    const env = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-figures' };
    const relay = keep(await place.startRelay({ port, env }), (one) => one.stop());
    const context = keep(await profile.open({ viewport: { width: 1280, height: 900 } }), (one) => one.close());
    await context.addInitScript(watchGrid);
    const visitor = await createVisitor(context, relay.link);
    await visitor.untilAll('sleeping');
    // This relay is new. After ten years it would have every entry.
    await delay(waitingShownMs);
    await visitor.page.getByText(/entr(y|ies) waiting/).waitFor({ state: 'hidden', timeout: handedOverMs });
    const times: number[] = [];
    for (let n = 0; n < warmUp + reloads; n++) times.push(await reloaded(visitor.page, 'grid-painted'));
    const usual = teamScript();
    const first = questions.slice(0, CALLS_OF_ANSWER / 2);
    const calls = [...first, ...questions].flatMap((query) => [
      { call: 'recall', input: { query } },
      { call: 'memory', input: { command: 'view' } },
    ]);
    const took: { readonly name: string; readonly ms: number; readonly result: string }[] = [];
    let said = 0;
    let next = 0;
    /** Calls of the answer under way. */
    let inAnswer = 0;
    model.follow((request) => {
      const { seat, last, results, at } = request;
      if (seat !== SEAT || (last !== ASKED && inAnswer === 0)) return usual(request);
      const before = calls[next - 1];
      if (before && inAnswer > 0) took.push({ name: before.call, ms: at - said, result: results.at(-1) ?? '' });
      const call = calls[next];
      if (!call || inAnswer >= CALLS_OF_ANSWER) {
        inAnswer = 0;
        return [{ say: 'That is all.' }];
      }
      inAnswer += 1;
      next += 1;
      said = performance.now();
      return [call];
    });
    await visitor.press('WAKE');
    await visitor.untilAll('awake');
    await visitor.open(SEAT);
    await visitor.ask(ASKED);
    await delay(settleMs);
    while (took.length < calls.length) await visitor.ask(ASKED);
    const of = (name: string) => took.slice(2 * first.length).filter((one) => one.name === name);
    return {
      reload: median(times.slice(warmUp)),
      atWake: took.slice(0, 2 * first.length).flatMap(({ name, ms }) => (name === 'recall' ? [ms] : [])),
      atRelay: of('recall').map(({ ms }) => ms),
      bare: of('memory').map(({ ms }) => ms),
      found: of('recall').filter(({ result }) => result.includes('Found in what you took part in')).length,
    };
  });

function figuresOf(measured: Measured, few: Measured): readonly Figure[] {
  const { messages, inPage, atRelay, bare, atWake, found, wake, reload, disk, memory } = measured;
  const bar = BARS.find((each) => messages <= each.messages) ?? BARS[0];
  const shown = messages.toLocaleString('en');
  const limit = (what: string, value: number) => ({ kind: 'limit', what, value }) as const;
  return [
    {
      what: `${shown} messages: \`recall\` at the relay, p95`,
      value: percentile(atRelay, 0.95),
      unit: 'ms',
      beside: limit(
        `${found} of ${atRelay.length} found something; median ${Math.round(median(atRelay))} ms`,
        bar.relayMs,
      ),
    },
    {
      what: '  against a call that asks no page',
      value: percentile(atRelay, 0.95),
      unit: 'ms',
      beside: { kind: 'peer', what: '`memory`, p95', value: percentile(bare, 0.95) },
    },
    {
      what: '  right after the WAKE of eight, median',
      value: median(atWake),
      unit: 'ms',
      beside: { kind: 'peer', what: '`recall`, median', value: median(atRelay) },
    },
    {
      what: '  the search in the page, p95',
      value: percentile(inPage, 0.95),
      unit: 'ms',
      beside: limit('', bar.pageMs),
    },
    { what: '  what a WAKE of eight carries, gathered', value: wake, unit: 'ms', beside: limit('', LIMIT.wakeMs) },
    {
      what: `  reload to painted grid, against ${few.messages.toLocaleString('en')} messages`,
      value: reload / few.reload,
      unit: '×',
      beside: limit(`${Math.round(reload)} ms against ${Math.round(few.reload)} ms`, LIMIT.ratio),
    },
    { what: '  index on disk', value: disk, unit: 'MB', beside: limit('', LIMIT.diskMb) },
    { what: '  memory of the worker for the searches', value: memory, unit: 'MB', beside: limit('', LIMIT.memoryMb) },
  ];
}

/** An hour, nearly all of it for writing a million messages and their index. */
export const memoryRecall = definePart({
  name: 'memory-recall',
  needs: 'browser',
  full: FULL,
  smoke: SMOKE,
  run: (sizes, place) =>
    withOpened(async (keep) => {
      const measured: Measured[] = [];
      for (const plan of sizes.plans) {
        const household = keep(await place.prepare(plan), (one) => one.profile.remove());
        const { questions, ...owner } = await throughOwner(household, plan, sizes);
        measured.push({
          messages: plan.messages,
          ...owner,
          ...(await throughRelay(household, questions, sizes, place)),
        });
      }
      const [few] = measured;
      if (!few) throw new Error('There are no sizes.');
      return {
        title: 'Ten years, recalled',
        method: `households of seed ${SEED} in a real profile; ${sizes.questions} questions of five words each from far back, asked by an agent in a session ${sizes.settleMs / 1_000} s after its WAKE, from the end of the model's answer to its next request`,
        figures: measured.flatMap((each) => figuresOf(each, few)),
      };
    }),
});
