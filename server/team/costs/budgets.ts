/**
 * The daily budgets: whether one more request may be sent.
 *
 * The cost of a request is known only when it ends. Until then its highest possible cost is held:
 * by its size, its longest answer and the highest applicable rate. A request is sent if what is
 * spent, what is held and its own highest cost stay within the budget. Otherwise it waits until
 * another request ends, and is decided again. A single request is sent while anything is left. So a
 * budget is exceeded by at most one request, and never stays unused because no request fits.
 *
 * Holds are local to the process. Spending is counted in the store, for all processes. Whatever a
 * killed process held counts as spent: see `createReserves`.
 */
import { z } from 'zod';
import { createListeners } from '../../../src/shared/domain/platform/events.ts';
import type { AgentId, MessageId, SessionId } from '../../../src/shared/domain/ids.ts';
import { mostCost, type RequestSize } from '../../../src/shared/domain/request-cost.ts';
import { idOf } from '../../../src/shared/protocol/limits.ts';
import { type BudgetState, microUsdOf, roomIn, usdText } from '../../../src/shared/domain/money.ts';
import { type Day, dayOf } from '../../../src/shared/domain/zone-days.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { type HomeStore, repeated } from '../../store/index.ts';
import type { CostRequest } from './contract.ts';
import type { Directory } from '../directory/index.ts';
import type { Configs } from '../gate/configs.ts';
import { createCommits } from '../../log/commits.ts';
import type { PriceTable, UsageRows } from './usage-rows.ts';
import { COST_LIMITS } from './settings.ts';
import type { SetAside } from '../../platform/set-aside.ts';

// Requests under way with the highest cost of each, and the callers that wait for one of them to
// end.

interface Held {
  readonly agentId: AgentId;
  readonly credentialId: string | undefined;
  readonly microUsd: number;
}

interface Holds {
  /** Money held for one agent, or for all if null. In millionths of a dollar. */
  of(agentId: AgentId | null): number;
  /** Number of requests under way that match. */
  count(fits: (held: Held) => boolean): number;
  /**
   * Holds money for a request. The returned function releases it. Calling it again changes nothing.
   */
  take(held: Held): () => void;
  /** How many holds have been released so far. */
  released(): number;
  /**
   * Resolves when a hold is released, or after `ms`. Rejects with the signal's reason when it
   * aborts.
   */
  nextRelease(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

export function createHolds(): Holds {
  const holds = new Set<Held>();
  const releases = createListeners();
  let released = 0;

  return {
    of(agentId) {
      let sum = 0;
      for (const hold of holds) if (agentId === null || hold.agentId === agentId) sum += hold.microUsd;
      return sum;
    },
    count(fits) {
      let count = 0;
      for (const hold of holds) if (fits(hold)) count += 1;
      return count;
    },
    take(one) {
      const hold = { ...one };
      holds.add(hold);
      return () => {
        if (!holds.delete(hold)) return;
        released += 1;
        releases.tell();
      };
    },
    released: () => released,
    nextRelease(ms, signal) {
      return new Promise((resolve, reject) => {
        const end = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', stop);
          unsubscribe();
        };
        const done = () => {
          end();
          resolve();
        };
        const stop = () => {
          end();
          reject(signal?.reason instanceof Error ? signal.reason : new Error('the request was cancelled'));
        };
        const timer = setTimeout(done, ms);
        const unsubscribe = releases.subscribe(done);
        if (signal?.aborted) return stop();
        signal?.addEventListener('abort', stop, { once: true });
      });
    },
  };
}

// Reserves: what is held for requests under way, on disk before they are sent. A killed process
// cannot report what its requests cost. The next process finds the reserves and charges each at its
// highest possible cost.
//
// Reserves that begin or end together are written together. The next process relies on being the
// only one of its home, as the event log does.

const whole = z.number().int().nonnegative();
const sizeSchema = z.object({
  model: z.string(),
  bytes: whole,
  pictures: whole,
  openEnded: z.boolean(),
  searches: z.number(),
  maxOutputTokens: whole.nullable(),
  cached: z.enum(['not', 'minutes', 'hour']),
  terms: z.object({
    ...{ fast: z.boolean(), priority: z.boolean(), resident: z.boolean() },
    // Reserves of earlier versions have none.
    batch: z.boolean().default(false),
  }),
}) satisfies z.ZodType<RequestSize>;
const reserveSchema = z.object({
  reserve: z.string(),
  takenAt: z.number(),
  agentId: idOf<AgentId>(z.string()),
  sessionId: idOf<SessionId>(z.string()).nullable(),
  messageId: idOf<MessageId>(z.string()).nullable(),
  via: z.enum(['session', 'proxy']),
  size: sizeSchema,
});
type Reserve = Readonly<z.infer<typeof reserveSchema>>;

interface Reserves {
  /**
   * Passes the reserves of earlier processes to `charge`, and deletes them after it resolves. A
   * second call finds none.
   */
  recover(charge: (left: readonly Reserve[]) => Promise<void>): Promise<void>;
  /** Resolves when the reserve is on disk. Must not be called before `recover`. */
  take(reserve: Reserve): Promise<void>;
  /** The request was never sent. Written soon, or with the next write. */
  over(reserve: string): void;
  /** Resolves when every write so far has ended, also if it failed. */
  settled(): Promise<void>;
}

interface ReservesDeps extends HomeStore {
  readonly elapsed: () => number;
  readonly setAside: SetAside;
}

export function createReserves({ db, home, elapsed, setAside }: ReservesDeps): Reserves {
  /** Reserves that have ended, not yet written as such. */
  const ended = new Set<string>();

  const rowOf = (reserve: Reserve) => ({ home, reserve: reserve.reserve, reserve_json: JSON.stringify(reserve) });

  async function write(taken: readonly Reserve[], over: readonly string[]): Promise<void> {
    if (over.length > 0)
      await repeated(() => db.deleteFrom('reserves').where('home', '=', home).where('reserve', 'in', over).execute());
    if (taken.length > 0)
      await repeated(() =>
        db
          .insertInto('reserves')
          .values(taken.map(rowOf))
          .onConflict((conflict) => conflict.doNothing())
          .execute(),
      );
  }

  /** Null: a reserve has ended. */
  const commits = createCommits<Reserve | null, true>({
    windowMs: 0,
    elapsed,
    async commit(writes) {
      const over = [...ended];
      const taken = writes.flatMap((each) => each ?? []);
      await write(taken, over);
      for (const reserve of over) ended.delete(reserve);
      return writes.map(() => true);
    },
  });

  function over(reserve: string): void {
    ended.add(reserve);
    // If the write fails, it is repeated with the next one. If the process is killed before that,
    // the request is charged: too much rather than too little.
    commits.add(null, false).catch(() => undefined);
  }

  return {
    async recover(charge) {
      const rows = await db.selectFrom('reserves').selectAll().where('home', '=', home).execute();
      const left = setAside.read(
        'costs',
        rows,
        ({ reserve }) => reserve,
        ({ reserve_json: text }) => reserveSchema.parse(JSON.parse(text)),
      );
      if (left.length === 0) return;
      await charge(left);
      await write(
        [],
        left.map(({ reserve }) => reserve),
      );
    },
    async take(reserve) {
      try {
        await commits.add(reserve, false);
      } catch (error) {
        // The write may have reached the disk all the same.
        over(reserve.reserve);
        throw error;
      }
    },
    over,
    settled: () => commits.flush(),
  };
}

interface BudgetDeps {
  readonly rows: UsageRows;
  readonly prices: Pick<PriceTable, 'read'>;
  readonly holds: Holds;
  readonly configs: Configs;
  readonly directory: Pick<Directory, 'all'>;
  readonly now: () => number;
  /** Monotonic time in ms, for spans. */
  readonly elapsed: () => number;
  readonly waitMs: number;
}

type Spending = readonly { readonly agentId: AgentId; readonly microUsd: number }[];
type BudgetScope = { readonly scope: 'household' } | { readonly scope: 'agent'; readonly agentId: AgentId };

/**
 * As `CostCheck`, with the release of the hold. `most`: the amount held, in millionths of a dollar.
 */
export type Room =
  | { readonly ok: true; readonly most: number; readonly release: () => void }
  | { readonly ok: false; readonly message: string; readonly until: number };

export interface Budgets {
  /** `patient` false: a request that would have to wait is refused. */
  check(request: CostRequest, signal?: AbortSignal, patient?: boolean): Promise<Room>;
  /**
   * The used-up budget of the agent or the household. Null: a request of this agent may still be
   * sent.
   */
  used(agentId: AgentId): Promise<Extract<Room, { ok: false }> | null>;
  /** The message for a used-up budget. */
  usedUp(scope: BudgetScope, state: BudgetState, spending: Spending, day: Day, timeZone: string): Promise<string>;
}

const tooDear = (most: number, limit: number) =>
  sentence`It may cost up to ${usdText(most)}, and ${usdText(limit)} are left of what you allow for it. Nothing was asked of the model.`;
const CROWDED = 'Too many requests of this agent are under way at once. Try again when some of them are done.';

const sumOf = (spending: Spending, agentId: AgentId | null) =>
  spending.reduce((sum, each) => (agentId === null || each.agentId === agentId ? sum + each.microUsd : sum), 0);

export function createBudgets({ rows, prices, holds, configs, directory, now, elapsed, waitMs }: BudgetDeps): Budgets {
  async function nameOf(agentId: AgentId): Promise<string> {
    const known = (await directory.all()).find((agent) => agent.agentId === agentId);
    return known?.name ?? (agentId === 'lead' ? 'the lead' : agentId);
  }

  async function usedUp(
    scope: BudgetScope,
    { budget, spent }: BudgetState,
    spending: Spending,
    day: Day,
    timeZone: string,
  ): Promise<string> {
    const name = scope.scope === 'agent' ? await nameOf(scope.agentId) : null;
    const whose = name ?? sentence`The household`;
    if (budget === 0)
      return sentence`${whose}’s daily budget for model requests is $0: none is sent. Raise it in the settings, under “Budgets and prices”.`;
    const most = name === null ? spending.filter((each) => each.microUsd > 0).slice(0, COST_LIMITS.spendersNamed) : [];
    const by = await Promise.all(most.map(async (each) => `${await nameOf(each.agentId)} ${usdText(each.microUsd)}`));
    const spentBy = by.length > 0 ? sentence` (most by ${by.join(', ')})` : '';
    const until = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'medium', timeStyle: 'short' }).format(
      day.end,
    );
    const [daily, used] = [usdText(budget ?? 0), usdText(spent)];
    return sentence`${whose}’s daily budget of ${daily} for model requests is used up: ${used} spent today${spentBy}. It opens again on ${until} (${timeZone}). Raise it in the settings, under “Budgets and prices”.`;
  }

  const reservedText = (state: BudgetState, most: number) =>
    sentence`The rest of today’s budget of ${usdText(state.budget ?? 0)} is reserved for running requests (${usdText(state.spent)} spent, ${usdText(state.held)} reserved). This request may cost up to ${usdText(most)}. Try again when they are done, or raise the budget in the settings, under “Budgets and prices”.`;

  async function setFor(agentId: AgentId) {
    const { effective } = await configs.agent(agentId);
    const household = microUsdOf(effective.daily_budget_usd);
    const own = microUsdOf(effective.coordination.daily_budget_usd);
    const timeZone = effective.time_zone;
    return { household, own, isNone: household === null && own === null, timeZone, day: dayOf(timeZone, now()) };
  }
  type SetBudgets = Awaited<ReturnType<typeof setFor>>;
  type States = readonly (readonly [BudgetScope, BudgetState])[];
  const statesOf = (
    agentId: AgentId,
    { household, own }: SetBudgets,
    spending: Spending,
    heldOf: (agentId: AgentId | null) => number,
  ): States => [
    [
      { scope: 'agent', agentId },
      { budget: own, spent: sumOf(spending, agentId), held: heldOf(agentId) },
    ],
    [{ scope: 'household' }, { budget: household, spent: sumOf(spending, null), held: heldOf(null) }],
  ];
  const spentIn = (states: States, most: number) => states.find(([, state]) => roomIn(state, most) === 'spent');
  async function refusal(
    [scope, state]: States[number],
    spending: Spending,
    { day, timeZone }: SetBudgets,
  ): Promise<Extract<Room, { ok: false }>> {
    return { ok: false, message: await usedUp(scope, state, spending, day, timeZone), until: day.end };
  }

  async function used(agentId: AgentId): Promise<Extract<Room, { ok: false }> | null> {
    const set = await setFor(agentId);
    if (set.isNone) return null;
    const spending = await rows.byAgent(set.day.start);
    const spent = spentIn(
      statesOf(agentId, set, spending, () => 0),
      0,
    );
    return spent ? await refusal(spent, spending, set) : null;
  }

  return {
    usedUp,
    used,
    async check({ agentId, size, credentialId, mostMicroUsd = Infinity }, signal, patient = true) {
      const giveUp = elapsed() + (patient ? waitMs : 0);
      for (;;) {
        const set = await setFor(agentId);
        const { day } = set;
        const released = holds.released();
        const [most, spending] = await Promise.all([
          prices.read().then((table) => mostCost(size, table)),
          set.isNone ? [] : rows.byAgent(day.start),
        ]);
        signal?.throwIfAborted();
        // A hold released meanwhile is in neither of the two sums.
        if (holds.released() !== released) continue;
        if (most > mostMicroUsd) return { ok: false, message: tooDear(most, mostMicroUsd), until: day.end };
        // Nothing is awaited from here to the hold, so that two requests cannot both take the last
        // room.
        const states = statesOf(agentId, set, spending, holds.of);
        const spent = spentIn(states, most);
        if (spent) return await refusal(spent, spending, set);
        const full = states.find(([, state]) => roomIn(state, most) === 'held');
        const crowded =
          holds.count((held) => held.agentId === agentId) >= COST_LIMITS.underWayPerAgent ||
          (credentialId !== undefined &&
            holds.count((held) => held.credentialId === credentialId) >= COST_LIMITS.underWayPerCredential);
        if (!full && !crowded)
          return { ok: true, most, release: holds.take({ agentId, credentialId, microUsd: most }) };
        const left = giveUp - elapsed();
        if (left <= 0) return { ok: false, message: full ? reservedText(full[1], most) : CROWDED, until: day.end };
        await holds.nextRelease(left, signal);
      }
    },
  };
}
