/**
 * Two households at one relay on a Postgres server of its own: one that is honest, and one from
 * which attacks come.
 */
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { madeCredentialSchema } from '../../../src/shared/protocol/team.ts';
import { createLoopLag, type LoopLag } from '../../support/loop-lag.ts';
import { browserOf, type Browser } from '../../support/open-relay.ts';
import { startPostgres, type PostgresProcess } from '../../support/postgres-process.ts';
import { createHome, startRelay, type ProcessEnd } from '../../support/relay.ts';
import { SNAPSHOT } from '../../support/schedules.ts';
import { startScriptedModel, type ScriptedModel } from '../../support/scripted-model.ts';
import { openLink } from '../../support/sign-in.ts';
import type { Target } from './attack.ts';
import type { Begun } from './attackers.ts';

/** Of the first household: nobody else may ever read them. */
const SECRETS = {
  key: 'sk-honest-5f1c9a7be204d6',
  word: 'Quincunx-of-the-first-household',
} as const;

export interface Scene {
  readonly postgres: PostgresProcess;
  /** Of the first household. */
  readonly honest: Browser;
  readonly model: ScriptedModel;
  readonly word: string;
  readonly target: Target;
  readonly relayPid: number;
  readonly lag: LoopLag;
  /** MB that the relay holds. */
  memoryMb(): number;
  /** Its end; null: it lives. */
  ended(): ProcessEnd | null;
  /** Ends all of it; what the relay has said at last. */
  close(): Promise<ProcessEnd>;
}

async function done(browser: Browser, method: string, path: string, json: unknown): Promise<Response> {
  const answer = await browser.fetch(path, { method, json });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}

/** The process that a terminal has started for a relay. */
const relayOf = (terminal: number): number =>
  Number(readFileSync(`/proc/${terminal}/task/${terminal}/children`, 'utf8').trim().split(' ')[0]);

export async function openScene({ modelUrl, oddUrl }: Begun): Promise<Scene> {
  const postgres = await startPostgres();
  const model = await startScriptedModel(() => [{ say: 'Yes.' }]);
  const home = await createHome({ store: null });
  const lag = createLoopLag();
  const relay = await startRelay({
    home,
    env: lag.env,
    databaseUrl: postgres.url,
    args: ['--model-addresses', 'any'],
    terminal: true,
  });
  const pid = relayOf(relay.pid);
  let end: ProcessEnd | null = null;
  void relay.ended.then((ended) => (end = ended));

  const first = await relay.signIn();
  const honest = browserOf(relay.url, first);
  const second = await openLink(await relay.newLink());
  const hostile = browserOf(relay.url, second);
  for (const [browser, agentId, name] of [
    [honest, 'a1', 'Lyra'],
    [hostile, 'm1', 'Morgan'],
  ] as const) {
    await done(browser, 'POST', '/api/home', { beside: true, anew: false });
    await done(browser, 'PUT', '/api/team', { agents: [{ agentId, name, position: 0, retired: false }] });
    await done(browser, 'PUT', `/api/agent-snapshots/${agentId}`, { version: 'v1', snapshot: SNAPSHOT });
  }
  await done(honest, 'POST', '/api/models', {
    kind: 'server',
    address: model.url,
    key: SECRETS.key,
    model: 'scripted',
  });
  for (const [address, name] of [
    [modelUrl, 'scripted'],
    [oddUrl, 'odd'],
  ] as const)
    await done(hostile, 'POST', '/api/models', { kind: 'server', address, key: 'sk-hostile', model: name });
  await done(honest, 'PUT', '/v1/config', { coordination: { toolsets: { files: 'ask' } } });
  const made = await done(hostile, 'POST', '/api/credentials', { agentId: 'm1', label: 'elsewhere' });
  const { secret } = madeCredentialSchema.parse(await made.json());
  await done(honest, 'POST', '/api/sessions', {
    human: { name: 'Noa' },
    lead: { name: 'Sol', soul: `I am Sol. ${SECRETS.word}.`, transcript: null },
  });
  const put = await relay.fetch('/api/workspaces/a1/file?path=kept.md', {
    method: 'PUT',
    body: SECRETS.word,
    headers: { 'content-type': 'application/octet-stream' },
  });
  if (!put.ok) throw new Error(`A file was not taken: ${put.status}`);

  return {
    ...{ postgres, honest, model, lag },
    relayPid: pid,
    word: SECRETS.word,
    target: {
      url: relay.url,
      port: relay.port,
      ...{ first, second },
      credential: secret,
      ids: ['a1', 'lead', 'kept.md'],
      secrets: Object.values(SECRETS),
    },
    memoryMb: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024,
    ended: () => end,
    async close() {
      postgres.thaw();
      if (end === null) process.kill(pid, 'SIGTERM');
      const last = await Promise.race([relay.ended, sleep(30_000, null, { ref: false })]);
      if (last === null) process.kill(pid, 'SIGKILL');
      const given = last ?? (await relay.ended);
      await Promise.all([model.close(), postgres.stop()]);
      await rm(home, { recursive: true, force: true });
      return last ? given : { ...given, stderr: `${given.stderr}\nIt did not end within 30 s.` };
    },
  };
}
