/**
 * The states in which the relay is killed: one row for each state of a part. A new part adds its
 * rows here.
 */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { mcpServerSchema } from '../../src/shared/protocol/mcp.ts';
import { knownForgetsSchema } from '../../src/shared/protocol/forgets.ts';
import { attemptsSchema } from '../../src/shared/protocol/attempts.ts';
import { historySchema } from '../../src/shared/protocol/endpoints/history.ts';
import { createdWebhookSchema } from '../../src/shared/protocol/webhooks.ts';
import { programSchema } from '../../src/shared/protocol/programs.ts';
import { projectSchema, taskSchema, tasksSchema, type Task } from '../../src/shared/protocol/projects.ts';
import { scheduledSchema } from '../../src/shared/protocol/schedules.ts';
import { formatStamp } from '../../src/shared/domain/stamp.ts';
import { eventsOf } from '../support/homes.ts';
import { browserOf } from '../support/open-relay.ts';
import { SNAPSHOT } from '../support/schedules.ts';
import { createRepository, git } from '../support/person-repository.ts';
import { programOf } from '../support/relay-build.ts';
import type { Part } from '../support/scripted-model.ts';
import { enter, newSyncId, newTestDevice, newTestHousehold } from '../support/sync-device.ts';
import { type AgentOfScene, LONG_SLEEP, processesWith, type Scene, until } from './restart-scene.ts';

export interface RestartState {
  readonly part: string;
  readonly name: string;
  /**
   * Brings the relay into the state. Resolves with what checks, after the next start, what this
   * state promises, and tidies up. `later`: whether that start is hours later.
   */
  bring(scene: Scene): Promise<(later: boolean) => Promise<void>>;
}

const call = (name: string, input: object): readonly Part[] => [{ call: name, input }];
function demand(what: string, isSo: boolean): void {
  if (!isSo) throw new Error(what);
}
/** A sandbox has begun its command when that stands beside it. */
const untilRuns = (text: string) =>
  until(
    `A process runs ${text}`,
    () => Promise.resolve([...processesWith(text).values()].filter((line) => !line.includes('bwrap')).length),
    (count) => count > 0,
  );
const untilAsked = async ({ model }: Scene, count: number) =>
  await until(
    'The model is asked',
    () => Promise.resolve(model.requests.length),
    (now) => now >= count,
  );
const said = async ({ relay }: Scene): Promise<string> =>
  JSON.stringify(await eventsOf(browserOf(relay().url, await relay().signIn())));
const occursIn = (text: string, part: string): number => text.split(part).length - 1;

// What an agent does alone.

async function runThat(scene: Scene, turns: readonly (readonly Part[])[], agentId: AgentOfScene = 'a1'): Promise<void> {
  const before = scene.model.requests.length;
  await scene.begins(agentId, turns);
  await untilAsked(scene, before + 1);
}
const nothingMore = () => Promise.resolve();

// A session.

const HUMAN = { human: { name: 'Noa' }, lead: { name: 'Sol', soul: 'I am Sol.', transcript: null } };
async function sessionIsOver({ good }: Scene): Promise<void> {
  const { sessionActive } = z.object({ sessionActive: z.boolean() }).parse(await good('GET', '/api/health'));
  demand('The session is over', !sessionActive);
  await good('POST', '/api/sessions', HUMAN);
  await good('DELETE', '/api/sessions/current');
}
async function talk(scene: Scene, script: Parameters<Scene['model']['follow']>[0]): Promise<string> {
  scene.model.follow(script);
  await scene.good('POST', '/api/sessions', HUMAN);
  const text = `Remember ${randomUUID()}.`;
  await scene.good('POST', '/api/messages', { text, clientId: randomUUID() });
  return text;
}

// Projects.

async function taskOf(scene: Scene, fields: object = {}): Promise<{ readonly task: Task; readonly path: string }> {
  const path = createRepository(join(scene.folder, randomUUID()), { 'a.txt': 'one\n' });
  const { projectId } = projectSchema.parse(
    await scene.good('POST', '/v1/projects', {
      ...{ name: `P${randomUUID().slice(0, 6)}`, kind: 'git', repository: path, agents: ['a1', 'a2'] },
      ...fields,
    }),
  );
  const task = taskSchema.parse(
    await scene.good('POST', `/v1/projects/${projectId}/tasks`, { title: 'Add two', columnId: 'ready' }),
  );
  return { task, path };
}
const at = ({ projectId, taskId }: Task) => `/v1/projects/${projectId}/tasks/${taskId}`;
const ids = ({ projectId, taskId }: Task) => ({ projectId, taskId });
const inNewest = (command: string) =>
  call('run_command', { command: `cd "$(dirname "$(ls -t projects/*/*/a.txt | head -1)")" && ${command}` });
const readTask = async ({ good }: Scene, task: Task) => taskSchema.parse(await good('GET', at(task)));
const attemptsOf = async ({ good }: Scene, task: Task) =>
  attemptsSchema.parse(await good('GET', `${at(task)}/attempts`)).attempts;
async function isLost(scene: Scene, task: Task): Promise<void> {
  await until(
    'The attempt is lost',
    () => attemptsOf(scene, task),
    (all) => all.every(({ outcome }) => outcome === 'lost'),
  );
  await until(
    'The task is ready again',
    () => readTask(scene, task),
    ({ columnId, claim }) => columnId === 'ready' && claim === null,
  );
}
/** Another agent takes the task, and brings it to review. */
async function goesOn(scene: Scene, task: Task): Promise<void> {
  const [claimed = ''] = await scene.works('a2', [
    call('claim_task', ids(task)),
    inNewest('echo three >> a.txt && git commit -qam Three'),
    call('transition_task', { ...ids(task), status: 'review' }),
  ]);
  demand(`The task can be claimed again: ${claimed}`, claimed.includes('in the folder'));
  await isMergeable(scene, task);
}
async function isMergeable(scene: Scene, task: Task): Promise<void> {
  const { request } = await until(
    'The task is in review',
    () => readTask(scene, task),
    ({ columnId, request: open }) => columnId === 'done' || (columnId === 'review' && open?.state === 'open'),
  );
  if (request?.state === 'open') await scene.good('POST', `${at(task)}/request/merge`, {});
}
const lostAndGoesOn = (scene: Scene, task: Task) => async () => {
  await isLost(scene, task);
  await goesOn(scene, task);
};
/** A task in review, whose attempt has ended. */
async function inReview(scene: Scene): Promise<{ readonly task: Task; readonly path: string }> {
  const made = await taskOf(scene);
  await scene.works('a1', [
    call('claim_task', ids(made.task)),
    inNewest('echo two >> a.txt && git commit -qam Two'),
    call('transition_task', { ...ids(made.task), status: 'review' }),
  ]);
  await until(
    'The attempt has ended',
    () => attemptsOf(scene, made.task),
    (all) => all.length > 0 && all.every(({ outcome }) => outcome === 'review'),
  );
  return made;
}
async function mergedOnce(scene: Scene, { task, path }: { readonly task: Task; readonly path: string }) {
  await isMergeable(scene, task);
  demand('The task is done', (await readTask(scene, task)).columnId === 'done');
  const merges = git(path, 'log', '--merges', '--format=%s', 'main').trim().split('\n');
  demand(`It is merged once: ${merges.join(', ')}`, merges.length === 1);
  demand('The repository of the person is clean', git(path, 'status', '--porcelain') === '');
  demand('The change is there once', git(path, 'show', 'main:a.txt') === 'one\ntwo\n');
}

const mergeCut = (afterMs: number): RestartState => ({
  part: 'merge',
  name: `under way for ${afterMs} ms`,
  async bring(scene) {
    const made = await inReview(scene);
    void scene.call('POST', `${at(made.task)}/request/merge`, {}).catch(() => null);
    await sleep(afterMs);
    return () => mergedOnce(scene, made);
  },
});

// Files and their history.

const fileAt = (path: string) => `/api/workspaces/a1/file?path=${encodeURIComponent(path)}`;
async function put({ relay }: Scene, path: string, body: string): Promise<void> {
  const headers = { 'content-type': 'application/octet-stream' };
  const answer = await relay().fetch(fileAt(path), { method: 'PUT', body, headers });
  demand(`${path} is put: ${answer.status}`, answer.status === 204);
}
const textAt = async ({ call: ask }: Scene, path: string): Promise<string | null> => {
  const answer = await ask('GET', fileAt(path));
  return answer.status === 200 ? await answer.text() : null;
};
const pointsOf = async ({ good }: Scene) => historySchema.parse(await good('GET', '/api/workspaces/a1/history')).points;

const undoCut = (afterMs: number): RestartState => ({
  part: 'undo',
  name: `under way for ${afterMs} ms`,
  async bring(scene) {
    const name = `undo-${randomUUID()}.txt`;
    await put(scene, name, 'first');
    await scene.works('a1', [call('run_command', { command: `echo second > ${name}` })]);
    const [point] = await pointsOf(scene);
    const path = `/api/workspaces/a1/history/${point?.pointId ?? ''}/restore`;
    const restore = { to: 'before', files: null };
    void scene.call('POST', path, restore).catch(() => null);
    await sleep(afterMs);
    return async () => {
      const left = (await textAt(scene, name))?.trim() ?? '';
      demand(`The file is as it was before or after: ${left}`, ['first', 'second'].includes(left));
      await scene.good('POST', path, restore);
      demand('It can be restored', (await textAt(scene, name)) === 'first');
    };
  },
});

// Webhooks.

async function webhookOf(scene: Scene) {
  const { task } = await taskOf(scene);
  const { projectId } = task;
  const target = { kind: 'project', projectId, column: 'ready', githubLabel: null };
  const made = createdWebhookSchema.parse(await scene.good('POST', '/api/webhooks', { name: 'Website', target }));
  const delivery = randomUUID();
  const deliver = async () =>
    await fetch(new URL(`/hooks/${made.secret}`, scene.relay().url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': delivery },
      body: JSON.stringify({ title: delivery, text: '' }),
    });
  const once = async () => {
    const repeated = await deliver();
    demand(`The delivery is taken again: ${repeated.status}`, repeated.status < 300);
    const { tasks } = tasksSchema.parse(await scene.good('GET', `/v1/projects/${projectId}/tasks?limit=1000`));
    demand('It has made one task', tasks.filter(({ title }) => title === delivery).length === 1);
    await scene.good('DELETE', `/api/webhooks/${made.webhook.webhookId}`);
  };
  return { deliver, once };
}
const webhookCut = (afterMs: number): RestartState => ({
  part: 'webhook',
  name: `under way for ${afterMs} ms`,
  async bring(scene) {
    const { deliver, once } = await webhookOf(scene);
    void deliver().catch(() => null);
    await sleep(afterMs);
    return once;
  },
});

// Forgetting.

const placesSchema = z.object({ places: z.array(z.unknown()) });
/** ms since the epoch by the relay's clock, which may be ahead. Its answers name whole seconds. */
async function timeOf({ call }: Scene): Promise<number> {
  const { headers } = await call('GET', '/api/health');
  return Date.parse(headers.get('date') ?? '');
}
const forgetCut = (afterMs: number): RestartState => ({
  part: 'forgetting',
  name: `under way for ${afterMs} ms`,
  async bring(scene) {
    const words = `Planted ${randomUUID()}`;
    await scene.works('a1', [call('remember', { text: words })]);
    const places = async () =>
      placesSchema.parse(await scene.good('POST', '/api/sentences', { text: words })).places.length;
    demand('What is to be forgotten is there', (await places()) > 0);
    await sleep(1_000);
    const time = await timeOf(scene);
    const forget = {
      forgetId: randomUUID(),
      at: formatStamp({ time, counter: 0, node: 'page' }),
      target: { kind: 'conversation', agentId: 'a1' },
    };
    void scene.call('POST', '/api/forgets', { forgets: [forget] }).catch(() => null);
    await sleep(afterMs);
    return async () => {
      // A request that the relay has stored is carried out by its start. Others come again.
      const isStored = JSON.stringify(await scene.good('GET', '/api/forgets')).includes(forget.forgetId);
      if (isStored) demand('What a stored request covers is gone', (await places()) === 0);
      await scene.good('POST', '/api/forgets', { forgets: [forget] });
      demand('What was forgotten is gone', (await places()) === 0);
      const { forgetIds } = knownForgetsSchema.parse(await scene.good('GET', '/api/forgets'));
      // Forgetting withdraws the snapshot. A page leaves one without what was forgotten.
      await scene.good('PUT', '/api/agent-snapshots/a1', {
        version: `v${time}`,
        snapshot: { ...SNAPSHOT, name: 'Name of a1' },
        forgets: forgetIds,
      });
      while ((await timeOf(scene)) <= time) await sleep(100);
      await scene.works('a1', [call('remember', { text: `After ${words}` })]);
      demand('Later notes stay', (await places()) > 0);
    };
  },
});

// Approvals.

async function asked(scene: Scene, name: string) {
  await scene.grant('a2', { toolsets: { files: 'ask' } });
  await scene.works('a2', [call('write_file', { path: name, content: 'once' })]);
  const [card] = await until('A card waits', scene.waiting, (all) => all.length > 0);
  if (!card) throw new Error('There is one.');
  const file = async () => {
    const answer = await scene.call('GET', `/api/workspaces/a2/file?path=${name}`);
    return answer.status === 200 ? await answer.text() : null;
  };
  return { callId: card.callId, file, yes: { answer: 'once', words: '' } };
}

const SERVER = fileURLToPath(new URL('../support/mcp-server.mjs', import.meta.url));
const BOOK = { name: 'book', description: 'Books a table.', inputSchema: { type: 'object', properties: {} } };
const FORM = { type: 'object', properties: { name: { type: 'string', title: 'Your name' } }, required: ['name'] };

export const STATES: readonly RestartState[] = [
  {
    part: 'session',
    name: 'just begun',
    async bring(scene) {
      await scene.good('POST', '/api/sessions', HUMAN);
      return () => sessionIsOver(scene);
    },
  },
  {
    part: 'session',
    name: 'a message was acknowledged',
    async bring(scene) {
      const text = await talk(scene, () => 'silent');
      return async () => {
        demand('The message is there once', occursIn(await said(scene), text) === 1);
        await sessionIsOver(scene);
      };
    },
  },
  {
    part: 'session',
    name: 'the lead is in the middle of an answer',
    async bring(scene) {
      const word = randomUUID();
      const open = new Promise(() => undefined);
      await talk(scene, () => [{ say: `It is ${word}.` }, { until: open }]);
      await until(
        'The words are stored',
        () => said(scene),
        (text) => text.includes(word),
      );
      return async () => {
        const events = await said(scene);
        demand('What was said is there', events.includes(word));
        demand('It is marked as interrupted', events.includes('"interrupted"'));
        await sessionIsOver(scene);
      };
    },
  },
  {
    part: 'session',
    name: 'the lead runs a command',
    async bring(scene) {
      await talk(scene, ({ results }) =>
        results.length === 0 ? call('run_command', { command: LONG_SLEEP }) : 'silent',
      );
      // The lead may have no shell: then it is told so.
      await Promise.race([untilRuns(LONG_SLEEP), untilAsked(scene, scene.model.requests.length + 2), sleep(3_000)]);
      return () => sessionIsOver(scene);
    },
  },
  {
    part: 'run',
    name: 'its model is asked',
    async bring(scene) {
      await runThat(scene, []);
      return nothingMore;
    },
  },
  {
    part: 'run',
    name: 'just triggered',
    async bring(scene) {
      await scene.begins('a1', []);
      return nothingMore;
    },
  },
  {
    part: 'run',
    name: 'it has read its inbox',
    async bring(scene) {
      const text = `Word ${randomUUID()}`;
      const threadId = await threadOf(scene);
      await scene.good('POST', `/api/threads/${threadId}/messages`, {
        ...{ text: `@a1 ${text}`, mentions: ['a1'], clientId: randomUUID() },
      });
      await runThat(scene, [call('read_inbox', {})]);
      return async () => {
        const events = await said(scene);
        const again = await scene.works('a1', [call('read_inbox', {})]);
        demand('The message was read before, or is read now', events.includes(text) || again.join().includes(text));
      };
    },
  },
  {
    part: 'command',
    name: 'in its sandbox',
    async bring(scene) {
      await runThat(scene, [call('run_command', { command: LONG_SLEEP })]);
      await untilRuns(LONG_SLEEP);
      return nothingMore;
    },
  },
  {
    part: 'script',
    name: 'under way',
    async bring(scene) {
      await put(scene, 'look.sh', `#!/bin/sh\n${LONG_SLEEP}\n`);
      const added = await scene.good('POST', '/v1/pulse-routines', {
        ...{ kind: 'script', agentId: 'a1', name: `Look ${randomUUID()}`, script: 'look.sh' },
        timing: { kind: 'weekly', days: [1], time: '07:30' },
      });
      const { scheduleId } = scheduledSchema.parse(added);
      await scene.good('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
      await untilRuns(LONG_SLEEP);
      return () => scene.good('DELETE', `/v1/pulse-routines/${scheduleId}`).then(() => undefined);
    },
  },
  {
    part: 'approval',
    name: 'waits',
    async bring(scene) {
      const { callId, file, yes } = await asked(scene, `waits-${randomUUID()}.md`);
      return async () => {
        await scene.good('POST', `/api/approvals/${callId}/answer`, yes);
        await until('The file is written', file, (text) => text === 'once');
        await scene.grant('a2', {});
      };
    },
  },
  {
    part: 'approval',
    name: 'was answered',
    async bring(scene) {
      const { callId, file, yes } = await asked(scene, `answered-${randomUUID()}.md`);
      await scene.good('POST', `/api/approvals/${callId}/answer`, yes);
      return async () => {
        const { calls } = z
          .object({ calls: z.array(z.looseObject({ callId: z.string(), state: z.string() })) })
          .parse(await scene.good('GET', '/api/calls'));
        const state = calls.find((each) => each.callId === callId)?.state;
        demand(`What was answered is carried out, or said to be unknown: ${state}`, state !== 'asked');
        demand('A call that is done is done', state !== 'done' || (await file()) === 'once');
        await scene.grant('a2', {});
      };
    },
  },
  {
    part: 'approval',
    name: 'is being answered',
    async bring(scene) {
      const { callId, file, yes } = await asked(scene, `half-${randomUUID()}.md`);
      void scene.call('POST', `/api/approvals/${callId}/answer`, yes).catch(() => null);
      await sleep(15);
      return async () => {
        if ((await scene.waiting()).some((card) => card.callId === callId)) {
          demand('What waits is not done', (await file()) === null);
          await scene.good('POST', `/api/approvals/${callId}/answer`, yes);
          await until('The file is written', file, (text) => text === 'once');
        }
        await scene.grant('a2', {});
      };
    },
  },
  {
    part: 'form of an MCP server',
    name: 'waits',
    async bring(scene) {
      const ways = join(scene.folder, `ways-${randomUUID()}.json`);
      writeFileSync(ways, JSON.stringify({ tools: [BOOK], elicits: [{ message: 'Who?', requestedSchema: FORM }] }));
      const attachment = {
        ...{ kind: 'program', command: process.execPath, args: [SERVER, ways, `${ways}.log`], env: {}, box: null },
      };
      const made = await scene.good('POST', '/api/mcp-servers', { name: 'tables', attachment });
      const { serverId, tools } = mcpServerSchema.parse(made);
      const use = tools.map(({ name, hash }) => ({ name, hash, use: true }));
      await scene.good('PUT', `/api/mcp-servers/${serverId}`, { tools: use });
      await runThat(scene, [call('mcp__tables__book', {})]);
      await until('A form waits', scene.waiting, (all) => all.length > 0);
      return async () => {
        demand('No form waits for a server that has forgotten it', (await scene.waiting()).length === 0);
        await scene.good('DELETE', `/api/mcp-servers/${serverId}`);
      };
    },
  },
  {
    part: 'claim',
    name: 'its set-up runs',
    async bring(scene) {
      const { task } = await taskOf(scene, { setup: LONG_SLEEP });
      await scene.begins('a1', [call('claim_task', ids(task))]);
      await untilRuns(LONG_SLEEP);
      return () => isLost(scene, task);
    },
  },
  {
    part: 'claim',
    name: 'under way, with a commit',
    async bring(scene) {
      const { task } = await taskOf(scene);
      await runThat(scene, [call('claim_task', ids(task)), inNewest('echo two >> a.txt && git commit -qam Two')]);
      await scene.untilGiven('Exit status 0');
      return async () => {
        await isLost(scene, task);
        const [{ receipt } = { receipt: null }] = await attemptsOf(scene, task);
        demand('The receipt has the commit', receipt?.commits.length === 1);
        await goesOn(scene, task);
      };
    },
  },
  {
    part: 'claim',
    name: 'of a folder project',
    async bring(scene) {
      const { projectId } = projectSchema.parse(
        await scene.good('POST', '/v1/projects', { name: `F${randomUUID().slice(0, 6)}`, agents: ['a1', 'a2'] }),
      );
      const made = { title: 'Write', columnId: 'ready' };
      const task = taskSchema.parse(await scene.good('POST', `/v1/projects/${projectId}/tasks`, made));
      await runThat(scene, [call('claim_task', ids(task))]);
      await scene.untilGiven('in the folder');
      return () => isLost(scene, task);
    },
  },
  {
    part: 'claim',
    name: 'its checks run',
    async bring(scene) {
      const { task } = await taskOf(scene, {
        checks: [LONG_SLEEP],
        doneNeeds: { change: true, checks: true, criteria: false },
      });
      await scene.begins('a1', [
        call('claim_task', ids(task)),
        inNewest('echo two >> a.txt && git commit -qam Two'),
        call('transition_task', { ...ids(task), status: 'review' }),
      ]);
      await untilRuns(LONG_SLEEP);
      return () => isLost(scene, task);
    },
  },
  {
    part: 'executor',
    name: 'its model is asked',
    async bring(scene) {
      const { task } = await taskOf(scene);
      const before = scene.model.requests.length;
      await scene.begins('a1', [call('claim_task', ids(task)), call('execute_task', ids(task))]);
      await untilAsked(scene, before + 3);
      return lostAndGoesOn(scene, task);
    },
  },
  {
    part: 'executor',
    name: 'its command runs',
    async bring(scene) {
      const { task } = await taskOf(scene);
      const turns = [call('claim_task', ids(task)), call('execute_task', ids(task))];
      await scene.begins('a1', turns);
      scene.model.follow(({ system, body }) =>
        system.startsWith('You execute one task')
          ? call('run_command', { command: LONG_SLEEP })
          : (turns[body.messages.filter(({ role }) => role === 'assistant').length] ?? 'silent'),
      );
      await untilRuns(LONG_SLEEP);
      return lostAndGoesOn(scene, task);
    },
  },
  {
    part: 'review',
    name: 'the attempt is being ended',
    async bring(scene) {
      const { task } = await taskOf(scene);
      await scene.begins('a1', [
        call('claim_task', ids(task)),
        inNewest('echo two >> a.txt && git commit -qam Two'),
        call('transition_task', { ...ids(task), status: 'review' }),
      ]);
      await until(
        'The task is in review',
        () => readTask(scene, task),
        ({ columnId }) => columnId === 'review',
      );
      return async () => {
        const { request } = await readTask(scene, task);
        if (request !== null) return await isMergeable(scene, task);
        await scene.good('POST', `${at(task)}/move`, { columnId: 'ready', note: '' });
        await goesOn(scene, task);
      };
    },
  },
  {
    part: 'review',
    name: 'a second mind looks at it',
    async bring(scene) {
      const { task, path } = await taskOf(scene, { reviewer: 'a2' });
      const before = scene.model.requests.length;
      await scene.begins('a1', [
        call('claim_task', ids(task)),
        inNewest('echo two >> a.txt && git commit -qam Two'),
        call('transition_task', { ...ids(task), status: 'review' }),
      ]);
      await untilAsked(scene, before + 4);
      return () => mergedOnce(scene, { task, path });
    },
  },
  ...[0, 20, 60, 120].map(mergeCut),
  {
    part: 'merge',
    name: 'acknowledged',
    async bring(scene) {
      const made = await inReview(scene);
      await scene.good('POST', `${at(made.task)}/request/merge`, {});
      return () => mergedOnce(scene, made);
    },
  },
  {
    part: 'recording',
    name: 'of a run that ends',
    async bring(scene) {
      const name = `many-${randomUUID()}`;
      const before = scene.model.requests.length;
      const command = `mkdir ${name} && cd ${name} && for i in $(seq 1500); do echo $i > $i.txt; done`;
      await scene.begins('a1', [call('run_command', { command }), [{ say: 'Done.' }]]);
      await untilAsked(scene, before + 2);
      await sleep(60);
      return async () => {
        await scene.works('a1', [call('run_command', { command: `rm -r ${name}; echo x > after-${name}` })]);
        demand('The history can be read', (await pointsOf(scene)).length > 0);
        demand('The files are there', (await textAt(scene, `after-${name}`)) === 'x\n');
      };
    },
  },
  ...[0, 30, 90].map(undoCut),
  ...[0, 8, 25].map(webhookCut),
  ...[0, 5, 15, 40].map(forgetCut),
  {
    part: 'webhook',
    name: 'acknowledged',
    async bring(scene) {
      const { deliver, once } = await webhookOf(scene);
      demand('It is taken', (await deliver()).status === 201);
      return once;
    },
  },
  {
    part: 'ACP agent',
    name: 'in a turn',
    async bring(scene) {
      const log = join(scene.folder, `acp-${randomUUID()}`);
      const program = await programOf('test/support/acp-agent.mjs');
      const body = {
        name: `Agent ${randomUUID().slice(0, 6)}`,
        command: process.execPath,
        args: [program, log, 'good'],
      };
      const { programId } = programSchema.parse(await scene.good('POST', '/api/agent-programs', body));
      await scene.grant('a2', { mind: programId });
      await scene.begins('a2', [], 'DO [{"wait":null}]');
      await untilRuns(log);
      return async () => {
        await scene.good('DELETE', `/api/agent-programs/${programId}`);
        await scene.grant('a2', {});
      };
    },
  },
  {
    part: 'export',
    name: 'under way',
    async bring(scene) {
      await put(scene, 'large.txt', 'x'.repeat(3_000_000));
      const zip = await scene.call('GET', '/api/workspaces/a1/zip');
      const reader = zip.body?.getReader();
      await reader?.read();
      return async () => {
        await reader?.cancel().catch(() => undefined);
        const again = await scene.call('GET', '/api/workspaces/a1/zip');
        demand('The folder is handed out', again.status === 200 && (await again.arrayBuffer()).byteLength > 1_000);
      };
    },
  },
  {
    part: 'thread',
    name: 'a mention was acknowledged',
    async bring(scene) {
      const text = `Look ${randomUUID()}`;
      const threadId = await threadOf(scene);
      const path = `/api/threads/${threadId}/messages`;
      await scene.good('POST', path, { text: `@a1 ${text}`, mentions: ['a1'], clientId: randomUUID() });
      return async () => {
        demand('The message is there once', occursIn(JSON.stringify(await scene.good('GET', path)), text) === 1);
        const read = (await scene.works('a1', [call('read_inbox', {})])).join();
        const events = await said(scene);
        demand('The mention has reached the agent', read.includes(text) || events.includes(text));
      };
    },
  },
  {
    part: 'pairing',
    name: 'an offer is open',
    async bring(scene) {
      const offer = `/api/sync/offers/${newSyncId()}`;
      await scene.good('PUT', offer);
      return async (later) => {
        const slot = await scene.call('GET', `${offer}/request`);
        demand(`The offer is open, or has ended: ${slot.status}`, later ? slot.status >= 400 : slot.status < 500);
      };
    },
  },
  {
    part: 'household',
    name: 'added',
    async bring(scene) {
      const begun = await scene.call('POST', '/api/home', { beside: true, anew: true });
      demand(`A second sign-in is given: ${begun.status}`, begun.status === 200);
      const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
      const { key } = await scene.relay().signIn();
      const browser = () =>
        browserOf(scene.relay().url, { cookie: cookie.replace(/_\d+=/, `_${scene.relay().port}=`), key });
      await browser().fetch('/api/home', { method: 'POST', json: { beside: true, anew: false } });
      const agents = [{ agentId: 'lead', name: 'Lua', position: 4, retired: false }];
      const team = await browser().fetch('/api/team', { method: 'PUT', json: { agents } });
      demand(`The team is stored: ${team.status}`, team.status === 204);
      return async () => {
        const there = await (await browser().fetch('/api/team')).text();
        demand(`The other household is there: ${there}`, there.includes('Lua'));
      };
    },
  },
  {
    part: 'household',
    name: 'a device has registered it',
    async bring(scene) {
      const household = newTestHousehold();
      const device = newTestDevice();
      const link = await scene.call('POST', '/api/home', { beside: true, anew: true });
      const cookie = link.headers.getSetCookie()[0]?.split(';')[0] ?? '';
      const { key } = await scene.relay().signIn();
      const home = () => ({
        url: scene.relay().url,
        signIn: () => Promise.resolve({ cookie: cookie.replace(/_\d+=/, `_${scene.relay().port}=`), key }),
      });
      await (await enter(home(), household, device)).close();
      return async () => await (await enter(home(), household, device)).close();
    },
  },
];

async function threadOf({ good }: Scene): Promise<string> {
  const thread = await good('POST', '/api/threads', { title: 'About', participants: ['a1', 'a2'] });
  return z.looseObject({ threadId: z.string() }).parse(thread).threadId;
}
