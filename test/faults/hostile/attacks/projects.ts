/**
 * Projects that mean harm: records with options of git and paths that lead out, repositories at odd
 * addresses, names of models that are paths, many diffs at once, and deliveries without number.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createdWebhookSchema } from '../../../../src/shared/protocol/webhooks.ts';
import { projectSchema, taskSchema } from '../../../../src/shared/protocol/projects.ts';
import { scheduledSchema } from '../../../../src/shared/protocol/schedules.ts';
import { madeCredentialSchema } from '../../../../src/shared/protocol/team.ts';
import { calls } from '../../../support/hands.ts';
import type { Scope } from '../../../../src/shared/protocol/scopes.ts';
import { ALL_ROUTES, filled } from '../../../support/nearly-right.ts';
import { formatStamp } from '../../../../src/shared/domain/stamp.ts';
import type { Attack, Attacker } from '../attack.ts';

const DIFFS_AT_ONCE = 120;
const DELIVERIES = 40;
/** ms in which a run that a delivery has triggered asks its model. */
const DELIVERED_MS = 500;
const COMMIT = 'a'.repeat(40);
const REQUEST = {
  ...{ title: 'Read me', body: '', by: 'm1', state: 'open', branch: 'feat/1-one', base: COMMIT, head: COMMIT },
  ...{ openedAt: 1, updatedAt: 1, merged: null, url: null },
};

/** The body of an answer, as this schema has it. Null: it was refused, or the database was away. */
async function made<Value>(
  schema: { parse(value: unknown): Value },
  answer: ReturnType<Attacker['call']>,
): Promise<Value | null> {
  const given = await answer;
  return given !== null && given.status < 300 ? schema.parse(JSON.parse(given.text)) : null;
}

export async function newProject({ call, int }: Attacker, fields: object = {}) {
  const json = { name: `P${int(0, 999)}`, agents: ['m1'], ...fields };
  const project = await made(projectSchema, call('POST', '/v1/projects', { json }));
  const path = `/v1/projects/${project?.projectId}`;
  const task =
    project && (await made(taskSchema, call('POST', `${path}/tasks`, { json: { title: 'One', columnId: 'ready' } })));
  return project && task ? { project, task, path, at: `${path}/tasks/${task.taskId}` } : null;
}

/** Records of a project, a task and an attempt with these texts, and all that reads them. */
export const projectRecords: Attack = {
  name: 'project-records',
  async run(attacker) {
    const { of, bytes, call, found } = attacker;
    const here = await newProject(attacker);
    if (!here) return;
    const { project, task, at } = here;
    const marker = join(tmpdir(), `roost-hostile-${bytes(8).toString('hex')}`);
    const evil = of([`--output=${marker}`, `--upload-pack=touch ${marker}`, `ext::sh -c "touch ${marker}"`, '../../x']);
    const stamp = formatStamp({ time: Date.now() + 60_000, counter: 1, node: 'attacker' });
    const named = ['projectId', 'counts', 'version'];
    const value = Object.fromEntries(Object.entries(project).filter(([field]) => !named.includes(field)));
    const attempt = {
      ...{ projectId: project.projectId, taskId: task.taskId, number: 1, agentId: 'm1', runId: null, kind: 'agent' },
      ...{ model: null, startedAt: 1, endedAt: 2, outcome: 'review', note: '', branch: 'feat/1-one', base: COMMIT },
      ...{ head: COMMIT, folder: 'projects/p/1-one', receipt: null, review: null },
    };
    const records = [
      {
        type: 'task',
        id: task.taskId,
        value: { ...task, request: { ...REQUEST, [of(['base', 'head', 'branch'])]: evil } },
      },
      { type: 'project', id: of(['../up', 'A1', project.projectId]), value: { ...value, setup: `touch ${marker}` } },
      { type: 'project', id: 'p1', value: { ...value, kind: 'git', repository: evil, baseBranch: evil } },
      { type: 'attempt', id: 'x1', value: { ...attempt, [of(['base', 'head', 'branch', 'folder'])]: evil } },
    ].map((record) => ({ ...record, at: stamp }));
    await call('POST', '/api/records', { json: { records } });
    for (const path of ['/diff', '/attempts']) await call('GET', `${at}${path}`);
    await call('POST', `${at}/request/merge`, { json: {} });
    if (existsSync(marker)) found('text of a record was read as an option or run');
    await rm(marker, { force: true });
  },
};

/** Addresses that parsers read differently, folders of the machine, and options. */
export const repositoryPlaces: Attack = {
  name: 'repository-places',
  async run({ target, of, call, found }) {
    const places = [
      '/etc',
      '/work',
      '--upload-pack=x',
      'ext::sh -c x',
      'file:///etc',
      `git://127.0.0.1:${target.port}/x`,
    ];
    const json = { name: 'Elsewhere', kind: 'git', repository: of(places), baseBranch: of(['', '-x', 'main']) };
    const answer = await call('POST', '/v1/projects', { json });
    if (answer !== null && answer.status < 300) found(`a project was made of ${json.repository}`);
    const odd = [`https://1.1.1.1\\@127.0.0.1:${target.port}/x`, 'http://169.254.169.254/x', 'https://a.example./x'];
    await call('POST', '/v1/projects', { json: { ...json, baseBranch: '', repository: of(odd) } });
  },
};

/** A repository of the attacker’s on the relay’s machine, whose settings name programs. */
export const hostileRepository: Attack = {
  name: 'hostile-repository',
  async run({ of, call, found }) {
    const folder = await mkdtemp(join(tmpdir(), 'roost-hostile-'));
    try {
      const marker = join(folder, 'was-here');
      const program = join(folder, 'program.sh');
      await writeFile(program, `#!/bin/sh\ntouch ${marker}\ncat\n`);
      await chmod(program, 0o755);
      const path = join(folder, 'work');
      const git = (...words: string[]) => execFileSync('git', ['-C', folder, ...words], { stdio: 'ignore' });
      git('init', '--quiet', path);
      for (const key of ['core.fsmonitor', 'core.sshCommand', 'uploadpack.packObjectsHook', 'filter.x.smudge'])
        git('-C', path, 'config', key, program);
      await writeFile(join(path, '.git/objects/info/alternates'), '/etc\n');
      const repository = of([path, `file://${path}`, `${path}/.git`, `ext::${program}`]);
      const json = { name: 'Mine', kind: 'git', repository, baseBranch: of(['', 'main']) };
      const answer = await call('POST', '/v1/projects', { json });
      if (answer !== null && answer.status < 300) found(`a project was made of ${repository}`);
      if (existsSync(marker)) found('a program that a repository names has run');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

/** Work that is small to make and large to compare: long lines, many files, deep ones. */
const HEAVY = [
  'yes | tr -d "\\n" | head -c 45000000 > line.txt',
  'seq 2000000 | head -c 40000000 > numbers.txt',
  'for i in $(seq 2000); do echo x > "f$i"; done',
  'd=.; for i in $(seq 24); do d=$d/d; done; mkdir -p $d && echo x > $d/x',
  'mkdir .git && cd .git && mkdir objects refs && echo "ref: refs/heads/x" > HEAD',
  'for i in $(seq 60); do head -c 2000000 /dev/urandom > "r$i"; done',
  'echo x > A.md; echo x > a.md; ln -s /etc/passwd link; mkfifo pipe; truncate -s 40G large',
];
export const heavyWork: Attack = {
  name: 'heavy-work',
  inSession: true,
  async run(attacker) {
    const { of, call, drive } = attacker;
    const here = await newProject(attacker, { agents: ['m1', 'lead'] });
    if (!here) return;
    const coordination = { toolsets: { shell: 'allow', files: 'allow', projects: 'allow' }, workspace_megabytes: 200 };
    await call('PUT', '/v1/agents/lead/config', { json: { coordination } });
    const ids = { projectId: here.project.projectId, taskId: here.task.taskId };
    const command = `cd "$(ls -td projects/*/*/ | head -1)" && ${of(HEAVY)}`;
    await drive(
      calls('claim_task', ids),
      calls('run_command', { command }),
      calls('open_pull_request', { ...ids, title: 'Read me', body: 'x' }),
      calls('transition_task', { ...ids, status: 'review' }),
    );
    for (const path of ['/diff', '/diff', '/attempts']) await call('GET', `${here.at}${path}`);
    await call('POST', `${here.at}/request/merge`, { json: {} });
    await call('DELETE', `${here.path}?lose=true`);
  },
};

/** Many diffs at once, of a task without work and of work that is not there. */
export const manyDiffs: Attack = {
  name: 'many-diffs',
  async run(attacker) {
    const here = await newProject(attacker);
    if (!here) return;
    const { call, of } = attacker;
    const body = Buffer.alloc(100_000, 'a');
    const headers = { 'content-type': 'application/octet-stream' };
    await call('PUT', `${here.path}/file?path=one.txt`, { body, headers });
    const paths = [`${here.at}/diff`, `${here.path}/files`, `${here.path}/file?path=one.txt`];
    await Promise.all(Array.from({ length: DIFFS_AT_ONCE }, () => call('GET', of(paths))));
  },
};

/** Names of models that lead elsewhere where they are put into a path. */
export const modelPaths: Attack = {
  name: 'model-paths',
  async run({ target, of, call, bare, found }) {
    const out = ['rehearsal/../../models/x', '../files?x=1#', '..', 'a\nb', '..\\x', 'rehearsal-x', 'x'.repeat(5_000)];
    const settings = { leadModel: of(out), agentModel: of(out) };
    const lead = { name: 'Mordred', soul: null, transcript: null };
    const address = target.url;
    const connected = await call('POST', '/api/models', {
      json: { kind: 'server', address, key: 'k', model: of(out) },
    });
    if (connected !== null && connected.status < 300) found('the relay was connected to itself');
    await bare('POST', `/llm/${target.credential}/v1/messages`, {
      json: { model: of(out), max_tokens: 1, messages: [{ role: 'user', content: 'Hm.' }] },
    });
    await call('PUT', '/v1/agents/m1/config', { json: { coordination: {}, planning_model: settings.leadModel } });
    await call('POST', '/api/sessions', { json: { human: { name: 'Mal' }, lead, settings } });
    await call('DELETE', '/api/sessions/current');
  },
  inSession: true,
};

const SCOPED = ALL_ROUTES.map(([, endpoint]) => endpoint).filter(({ scopes: any }) => any !== undefined);
/** An application with one scope asks for all the others. */
export const scopes: Attack = {
  name: 'scopes',
  async run({ target, of, call, bare, found }) {
    const scopes: readonly Scope[] = ['team', 'read', 'threads', 'limits', 'schedules', 'sleep'];
    const json = { agentId: null, label: 'App', scopes: [of(scopes)] };
    const credential = await made(madeCredentialSchema, call('POST', '/api/credentials', { json }));
    if (!credential) return;
    const headers = { authorization: `Bearer ${credential.secret}` };
    // Calls that applications make with another scope are refused for the lack of it.
    for (let left = 6; left > 0; left--) {
      const { method, path } = of(SCOPED.filter((each) => !each.scopes?.some((scope) => json.scopes.includes(scope))));
      const asked = filled(path, () => of(['m1', ...target.ids]));
      const answer = await bare(method, asked, { headers, ...(method === 'GET' ? {} : { json: {} }) });
      if (answer !== null && answer.status < 400) found(`${method} ${path} without its scope`);
      if (answer?.status === 401) found(`${method} ${path} does not know the application`);
    }
    for (const [method, path, body] of [
      ['PUT', '/v1/config', { coordination: { daily_budget_usd: 1e9 } }],
      ['PUT', '/v1/agents/m1/config', { coordination: { toolsets: { shell: 'allow' } }, planning_model: 'x' }],
      ['POST', '/v1/projects', { name: 'By an application' }],
      ['POST', '/api/credentials', json],
      ['POST', '/api/records', { records: [] }],
      ['GET', '/api/approvals', undefined],
    ] as const) {
      const answer = await bare(method, path, { headers, ...(body === undefined ? {} : { json: body }) });
      if (answer !== null && answer.status < 300) found(`${method} ${path} with the scope ${json.scopes.join()}`);
    }
    await call('DELETE', `/api/credentials/${credential.credential.credentialId}`);
  },
};

/** An OAuth client that was registered at another server is to be used at the attacker’s. */
export const registeredClients: Attack = {
  name: 'registered-clients',
  async run({ target, servers, of, int, call, found }) {
    const secret = 'client-secret-of-the-second-0123456789';
    const issuer = of(['https://1.1.1.1/', target.url, servers.oddUrl, 'http://169.254.169.254/']);
    const attachment = { kind: 'address', url: servers.toolsUrl, client: { id: 'c', secret, issuer } };
    const name = `registered-${int(0, 99)}`;
    // The server names itself, or says that it is where the client was registered.
    servers.asksSignIn(of([issuer, new URL(servers.toolsUrl).origin]));
    const added = await call('POST', '/api/mcp-servers', { json: { name, attachment } });
    const serverId = /"serverId":"([^"]+)"/.exec(added?.text ?? '')?.[1] ?? 'none';
    const begun = await call('POST', `/api/mcp-servers/${serverId}/sign-in`, { json: {} });
    const state = /[?&]state=([\w.~-]+)/.exec(begun?.text ?? '')?.[1] ?? 's'.repeat(int(1, 2_000));
    await call('POST', '/api/mcp-sign-ins', { json: { query: `code=x&state=${state}` } });
    servers.asksSignIn(null);
    const heard = JSON.stringify(servers.heard);
    if (added?.text.includes(secret) || heard.includes(secret)) found('the secret of a client was told');
    await call('DELETE', `/api/mcp-servers/${serverId}`);
  },
};

/** A webhook is called over and over, for a routine on a project that may cost nothing in a day. */
export const spendingWebhooks: Attack = {
  name: 'spending-webhooks',
  async run(attacker) {
    const { servers, int, call, bare, found } = attacker;
    const here = await newProject(attacker, { dayMicroUsd: 0 });
    if (!here) return;
    const timing = { kind: 'every', minutes: 1_440 };
    const asked = servers.model.requests.length;
    const instructions = `Spend ${int(0, 1e9)}.`;
    const routine = { kind: 'routine', agentId: 'm1', name: `H${int(0, 1e6)}`, instructions, timing };
    const added = await made(scheduledSchema, call('POST', '/v1/pulse-routines', { json: routine }));
    if (!added) return;
    const { scheduleId } = added;
    const mapping = await call('POST', `${here.path}/agents/m1/routines`, { json: { routineId: scheduleId } });
    const json = { name: 'CI', target: { kind: 'routine', scheduleId } };
    const webhook = await made(createdWebhookSchema, call('POST', '/api/webhooks', { json }));
    // Beside a flood the mapping may be refused. Then the routine is bound to no project's budget.
    const isBound = mapping !== null && mapping.status < 300;
    await Promise.all(
      Array.from({ length: isBound ? DELIVERIES : 0 }, (_none, i) =>
        bare('POST', `/hooks/${webhook?.secret}`, { json: { build: i } }),
      ),
    );
    await sleep(DELIVERED_MS);
    if (servers.model.requests.slice(asked).some(({ body }) => JSON.stringify(body).includes(instructions)))
      found('a webhook has spent past the budget of its project');
    await call('DELETE', `/v1/pulse-routines/${scheduleId}`);
    if (webhook) await call('DELETE', `/api/webhooks/${webhook.webhook.webhookId}`);
    await call('DELETE', `${here.path}?lose=true`);
  },
};
