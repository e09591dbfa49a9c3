/**
 * Random operations on a board through two relays: after each, every rule of tasks, claims and
 * comments holds, and a page that reads only what changed has the same board as one that reads all.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { kindOfColumn, openBlockers } from '../../src/shared/domain/projects.ts';
import type { z } from 'zod';
import {
  type boardSchema,
  cardOf,
  type Project,
  type Task,
  type TaskCard,
} from '../../src/shared/protocol/projects.ts';
import { type ClaimRelay, CLAIMERS, good, newTask, openClaimHouse, tasksOf } from '../support/claim-house.ts';
import { createTestClock } from '../support/gate.ts';
import { createRandom } from '../support/random.ts';
import type { Store } from '../../server/store/index.ts';
import { Fault } from './checks.ts';

type BoardPage = z.output<typeof boardSchema>;

/** Most tasks on the board. */
const MOST_TASKS = 40;
const DOES = [
  ...['create', 'claim', 'claim', 'claim', 'move', 'move', 'edit', 'meet', 'release', 'end', 'wait', 'delete'],
  ...['comment', 'comment'],
] as const;

/** Reads of a board until it settles, and ms between two. */
const MOST_READS = 20;
const SETTLES_MS = 50;

const sorted = (cards: Iterable<TaskCard>) => [...cards].sort((a, b) => a.number - b.number);

/** A lease that is over ends a claim without a change, until somebody looks. */
const plain = (cards: Iterable<TaskCard>) => JSON.stringify(sorted(cards).map((card) => ({ ...card, claim: null })));

/** Why the tasks cannot be so after this operation. */
function faultsOf(project: Project, before: readonly Task[], after: readonly Task[], what: string): string[] {
  const faults: string[] = [];
  if (new Set(after.map(({ number }) => number)).size < after.length) faults.push('two tasks have one number');
  for (const task of after) {
    const say = (fault: string) => faults.push(`#${task.number} ${fault}`);
    const kind = kindOfColumn(project, task.columnId);
    const was = before.find(({ taskId }) => taskId === task.taskId);
    const last = task.history.at(-1);
    if (kind === null) say('is in no column');
    if (task.claim && kind !== 'in_progress') say(`is claimed in ${kind ?? 'no column'}`);
    if (task.claim && !was?.claim) {
      if (what !== 'claim') say(`was claimed by a ${what}`);
      // A claim first ends those whose lease is over, which puts their tasks back.
      const wasPutBack = task.history.at(-2)?.what === 'released';
      if (was && kindOfColumn(project, was.columnId) !== 'ready' && !wasPutBack)
        say('was claimed where it was not ready');
      if (was && openBlockers(project, was, before).length > 0) say('was claimed while it waits for another');
      if (task.assignee !== null && task.assignee !== task.claim.agentId)
        say('was claimed by another than its assignee');
    }
    if (task.claim && was?.claim && task.claim.agentId !== was.claim.agentId) say('went from one agent to another');
    if (kind === 'done' && was && kindOfColumn(project, was.columnId) !== 'done' && last?.by !== 'human')
      say(`was finished by ${last?.by ?? 'nobody'}`);
    if (was && task.version < was.version) say('has an older version');
    if (was && task.history.length < was.history.length) say('has lost some of its history');
    if (task.blockedBy.includes(task.taskId)) say('waits for itself');
  }
  return faults;
}

/** Answers how often each operation was accepted. Throws at the first rule that does not hold. */
export async function operateAtRandom(
  stores: readonly Store[],
  { seed, steps }: { readonly seed: number; readonly steps: number },
): Promise<Readonly<Record<string, number>>> {
  const clock = createTestClock(1_000_000);
  const relays = await openClaimHouse(stores, clock);
  const random = createRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const first = relays[0] as ClaimRelay;
  const members = CLAIMERS.slice(0, -1);
  const { projectId } = good(await first.projects.create({ name: 'Random', instructions: '', agents: members }));
  const project = good(await first.projects.read(projectId));
  const run = (agentId: string) => `run-${agentId}-${Math.floor(clock.now() / 60_000)}`;
  const done: Record<string, number> = {};
  /** Comments that were written, by task. */
  const said = new Map<string, number>();
  /** The board of a page that reads only what changed. */
  const page = new Map<string, TaskCard>();
  let asOf: number | null = null;
  let before: readonly Task[] = [];
  for (let step = 0; step < steps; step += 1) {
    const { projects, comments, mentioned, end } = pick(relays);
    const task = before.length === 0 ? undefined : pick(before);
    const agentId = pick(CLAIMERS);
    const by = random() < 0.3 ? 'human' : agentId;
    const id = task?.taskId ?? '';
    const what = task === undefined ? 'create' : before.length >= MOST_TASKS ? 'delete' : pick(DOES);
    const mentions = mentioned.length;
    const operate = {
      create: () => projects.createTask(by, projectId, newTask(`T${step}`, by === 'human' ? 'ready' : undefined)),
      claim: () => projects.claim({ agentId, runId: run(agentId) }, projectId, id),
      move: () => projects.move(by, projectId, id, { columnId: pick(project.columns).columnId, note: '' }),
      edit: () =>
        projects.changeTask('human', projectId, id, {
          ...{ blockedBy: random() < 0.5 ? [pick(before).taskId] : [], criteria: [{ text: `C${step}` }] },
          assignee: random() < 0.3 ? pick(members) : null,
        }),
      meet: () =>
        projects.meet(by, projectId, id, task?.criteria[0]?.criterionId ?? '', { met: random() < 0.7, evidence: 'x' }),
      release: () => projects.release(by, projectId, id, 'Later.'),
      delete: () => projects.removeTask(projectId, id),
      comment: () => comments.add(by, projectId, id, { text: `By ${by}, @${pick(CLAIMERS)}`, clientId: `c${step}` }),
      end: () => Promise.resolve(end(run(agentId))),
      wait: () => Promise.resolve(clock.pass(Math.floor(random() * 40_000))),
    } as const;
    const outcome = await operate[what]();
    if (outcome?.ok) done[what] = (done[what] ?? 0) + 1;
    const reader = pick(relays);
    let after: readonly Task[] = [];
    let isSame = false;
    // The claims of a run that ends are ended a moment later, maybe between the two reads.
    for (let tries = 0; !isSame && tries < MOST_READS; tries += 1) {
      if (tries > 0) await sleep(SETTLES_MS);
      after = await tasksOf(reader, projectId);
      const news: BoardPage = good(await first.projects.board(projectId, { since: asOf, after: 0, limit: 10_000 }));
      for (const card of news.cards) page.set(card.taskId, card);
      for (const taskId of news.gone) page.delete(taskId);
      asOf = news.asOf;
      isSame = plain(page.values()) === plain(after.map(cardOf));
    }
    const faults = faultsOf(project, before, after, what);

    if (what === 'comment') {
      if (outcome?.ok) said.set(id, (said.get(id) ?? 0) + 1);
      if (outcome?.ok && by !== 'human' && !members.includes(by)) faults.push(`${by} has commented from outside`);
      if (mentioned.slice(mentions).some((one) => one.agentId === by))
        faults.push(`the comment of ${by} woke its author`);
      const read = good(await comments.read(projectId, id, { before: null, limit: 1 }, null));
      if ((read.comments.at(-1)?.sequence ?? 0) !== (said.get(id) ?? 0))
        faults.push('a comment was lost, or is there twice');
    }
    if (!isSame) faults.push('what changed is not what is there');
    if (faults.length > 0) throw new Fault(`Step ${step}, ${what} by ${by}`, faults);
    before = after;
  }
  for (const { projects } of relays) projects.close();
  return done;
}
