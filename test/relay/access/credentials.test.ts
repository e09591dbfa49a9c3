import { Hono } from 'hono';
import { beforeEach, describe, expect, it } from 'vitest';
import { createCredentialRoutes, createCredentials, type Credentials } from '../../../server/access/index.ts';
import { NOTE_USE_EVERY_MS } from '../../../server/access/credentials.ts';
import { mount, type Env } from '../../../server/http/endpoint.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import { credentialsSchema, madeCredentialSchema, type TeamMember } from '../../../src/shared/protocol/team.ts';
import { storeFor } from '../../support/store-for.ts';
import { USUAL_STORES } from '../../support/stores.ts';

const ODD = 'a\u0000\ud800"';

describe.each(USUAL_STORES)('credentials, with the store on %s', (kind) => {
  const store = storeFor(kind);
  let time: number;
  let events: RoostEvent[];
  let credentials: Credentials;
  let made = 0;
  const open = (relay: string) =>
    createCredentials({
      db: store().db,
      home: relay,
      now: () => time,
      alone: kind === 'sqlite',
      newId: () => `credential-${(made += 1)}`,
      log: {
        append(appended) {
          events.push(...appended);
          return Promise.resolve([]);
        },
      },
    });
  beforeEach(() => {
    time = 1_000_000;
    events = [];
    credentials = open(`home-${made}`);
  });

  it('lets a secret in as its agent, and nothing else as anybody', async () => {
    const { credential, secret } = await credentials.make(ODD, ODD);
    expect(secret).toMatch(/^roost_[\w-]{43}$/);
    expect(credential).toMatchObject({
      agentId: ODD,
      label: ODD,
      hint: secret.slice(-4),
      madeAt: time,
      usedAt: null,
      revokedAt: null,
    });
    expect(await credentials.check(secret)).toEqual({
      agentId: ODD,
      credentialId: credential.credentialId,
      label: ODD,
      readsSoul: false,
      scopes: [],
    });
    for (const wrong of [
      '',
      'roost_',
      secret.slice(0, -1),
      `${secret} `,
      secret.slice('roost_'.length),
      secret.toUpperCase(),
      '\u0000',
    ])
      expect(await credentials.check(wrong), JSON.stringify(wrong)).toBeNull();
  });

  it('records whether a credential may read the soul: only on demand, and never an application', async () => {
    const made = [
      await credentials.make('lyra', '', { readsSoul: true }),
      await credentials.make('lyra', ''),
      await credentials.make(null, '', { readsSoul: true }),
    ];
    expect(made.map(({ credential }) => credential.readsSoul)).toEqual([true, false, false]);
    for (const { credential, secret } of made) {
      expect(await credentials.check(secret)).toMatchObject({ readsSoul: credential.readsSoul });
      expect((await credentials.list()).find(({ credentialId }) => credentialId === credential.credentialId)).toEqual({
        ...credential,
        usedAt: time,
      });
    }
  });

  it('admits an application without an agent', async () => {
    const { credential, secret } = await credentials.make(null, 'Night switch');
    expect(credential).toMatchObject({ agentId: null, label: 'Night switch' });
    expect(await credentials.check(secret)).toEqual({
      agentId: null,
      credentialId: credential.credentialId,
      label: 'Night switch',
      readsSoul: false,
      scopes: ['read', 'sleep', 'wake'],
    });
    expect(
      (await credentials.list()).find(({ credentialId }) => credentialId === credential.credentialId),
    ).toMatchObject({ agentId: null });
    expect(await credentials.revoke(credential.credentialId)).toBe(true);
    expect(await credentials.check(secret)).toBeNull();
  });

  it('never makes the same secret twice, and keeps none', async () => {
    const secrets = await Promise.all(
      Array.from({ length: 20 }, async () => (await credentials.make('lyra', '')).secret),
    );
    expect(new Set(secrets).size).toBe(20);
    const kept = JSON.stringify([
      await store().db.selectFrom('credentials').selectAll().execute(),
      await credentials.list(),
    ]);
    for (const secret of secrets) expect(kept).not.toContain(secret.slice('roost_'.length));
  });

  it("refuses a revoked credential at once, notifies listeners, and keeps the agent's others", async () => {
    const [first, second] = [await credentials.make('lyra', 'laptop'), await credentials.make('lyra', 'desk')];
    const heard: string[] = [];
    const stop = credentials.onRevoke((id) => heard.push(id));
    time += 5;
    expect(await credentials.revoke(first.credential.credentialId)).toBe(true);
    expect(await credentials.check(first.secret)).toBeNull();
    expect(await credentials.check(second.secret)).toMatchObject({ agentId: 'lyra' });
    expect(heard).toEqual([first.credential.credentialId]);
    stop();
    time += 5;
    expect(await credentials.revoke(first.credential.credentialId)).toBe(true);
    expect(await credentials.revoke('nobody')).toBe(false);
    expect(heard).toHaveLength(1);
    expect((await credentials.list()).find(({ label }) => label === 'laptop')?.revokedAt).toBe(time - 5);
  });

  it('says once per change that credentials have changed', async () => {
    const { credential } = await credentials.make('lyra', '');
    await credentials.revoke(credential.credentialId);
    await credentials.revoke(credential.credentialId);
    expect(events).toEqual([
      { kind: 'changed', time, what: 'credentials', agentId: 'lyra' },
      { kind: 'changed', time, what: 'credentials', agentId: 'lyra' },
    ]);
  });

  it('notes when it was used, once a minute at most', async () => {
    const { secret } = await credentials.make('lyra', '');
    const usedAt = async () => (await credentials.list())[0]?.usedAt;
    await Promise.all([1, 2, 3].map(() => credentials.check(secret)));
    const first = time;
    expect(await usedAt()).toBe(first);
    // Whoever looks is told, once: it was made, and it is in use.
    expect(events).toHaveLength(2);
    time = first + NOTE_USE_EVERY_MS - 1;
    await credentials.check(secret);
    expect(await usedAt()).toBe(first);
    time = first + NOTE_USE_EVERY_MS;
    await credentials.check(secret);
    expect(await usedAt()).toBe(time);
  });

  it('accepts a credential in its own home alone', async () => {
    const { credential, secret } = await credentials.make('lyra', '');
    const other = open('another-home');
    expect(await other.check(secret)).toBeNull();
    expect(await other.list()).toEqual([]);
    expect(await other.revoke(credential.credentialId)).toBe(false);
    expect(await credentials.check(secret)).not.toBeNull();
  });

  it('creates, lists and revokes a credential over HTTP, for agents that are not retired', async () => {
    const team: TeamMember[] = [
      { agentId: 'lyra', name: 'Lyra', position: 1, retired: false },
      { agentId: 'vega', name: 'Vega', position: null, retired: true },
    ];
    const app = new Hono<Env>();
    mount(app, createCredentialRoutes({ credentials, directory: { all: () => Promise.resolve(team) } }));
    const post = (body: unknown) =>
      app.request('/api/credentials', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });

    const answer = await post({ agentId: 'lyra', label: ' my laptop ' });
    expect(answer.status).toBe(201);
    const { credential, secret } = madeCredentialSchema.parse(await answer.json());
    expect(credential.label).toBe('my laptop');
    expect((await post({ agentId: 'nobody' })).status).toBe(404);
    expect((await post({ agentId: 'vega' })).status).toBe(409);
    expect((await post({ agentId: 'lyra', label: 'x'.repeat(81) })).status).toBe(400);

    const list = await (await app.request('/api/credentials')).text();
    expect(credentialsSchema.parse(JSON.parse(list)).credentials).toEqual([credential]);
    expect(list).not.toContain(secret);
    const path = `/api/credentials/${credential.credentialId}`;
    expect((await app.request(path, { method: 'DELETE' })).status).toBe(204);
    expect(await credentials.check(secret)).toBeNull();
    expect((await app.request('/api/credentials/nobody', { method: 'DELETE' })).status).toBe(404);
  });
});
