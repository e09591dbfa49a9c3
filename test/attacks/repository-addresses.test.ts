/**
 * Addresses of repositories, as a second household writes them and as its servers lead on: in all
 * that the relay has git call, nothing of the machine or its networks is reached.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRepositories } from '../../server/projects/checkouts/index.ts';
import { projectSchema } from '../../src/shared/protocol/projects.ts';
import { type ForgeAnswer, gitAnswers } from '../support/forge-answers.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../support/open-relay.ts';

const PUBLIC = '1.1.1.1';

/** What is inside, and may not be reached. */
let trap: Server;
let trapped = 0;
/** A server that the household may reach, and that leads on as the test says. */
let leading: Server;
let lead: ForgeAnswer = (response) => void response.end();
let folder: string;
const portOf = (server: Server) => (server.address() as AddressInfo).port;
const listening = (server: Server) => new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-addresses-'));
  trap = createServer((_request, response) => response.end()).on('connection', () => (trapped += 1));
  leading = createServer((request, response) => lead(response, request));
  await Promise.all([listening(trap), listening(leading)]);
});
afterAll(() => {
  trap.close();
  leading.close();
  leading.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

/** Spellings that lead inside by one reading at least. */
function spellings(): readonly string[] {
  const at = `127.0.0.1:${portOf(trap)}`;
  return [
    `https://${PUBLIC}\\@${at}/x`,
    `https://${PUBLIC}\\\\@${at}/x`,
    `https:\\\\${at}/x`,
    `https://${PUBLIC}@${at}/x`,
    `https://${PUBLIC}:443@${at}/x`,
    `https://@${at}/x`,
    `https://${at}#@${PUBLIC}/x`,
    `https://${PUBLIC}#@${at}/x`,
    `https://${PUBLIC}?@${at}/x`,
    `https://${PUBLIC} @${at}/x`,
    `https://${PUBLIC}\n@${at}/x`,
    `https://${PUBLIC}\t.${at}/x`,
    `https://${PUBLIC}\r\nHost: ${at}/x`,
    ` https://${at}/x`,
    `https://${at}/x\n`,
    `https:///${at}/x`,
    `https:/${at}/x`,
    `https:${at}/x`,
    `https://localhost:${portOf(trap)}/x`,
    `https://localhost.:${portOf(trap)}/x`,
    `https://2130706433:${portOf(trap)}/x`,
    `https://0x7f.1:${portOf(trap)}/x`,
    `https://0177.0.0.1:${portOf(trap)}/x`,
    `https://①②⑦.0.0.1:${portOf(trap)}/x`,
    `https://[::1]:${portOf(trap)}/x`,
    `https://[::ffff:127.0.0.1]:${portOf(trap)}/x`,
    `https://[::ffff:7f00:1]:${portOf(trap)}/x`,
    'https://169.254.169.254/x',
    'https://169.254.169.254./x',
    'https://2852039166/x',
    'https://0xa9fea9fe/x',
    'https://[::ffff:169.254.169.254]/x',
    'https://[64:ff9b::a9fe:a9fe]/x',
    `https://${PUBLIC}:25/x`,
    `https://${PUBLIC}:0/x`,
    `http://${PUBLIC}/x`,
    `http://${at}/x`,
    `ext::sh -c "echo > /tmp/x"`,
    `git://${at}/x`,
    `ssh://${at}/x`,
    `git@${at}:x`,
    `file:///etc`,
    `ftp://${at}/x`,
    `http::http://${at}/x`,
    `--upload-pack=touch /tmp/x`,
  ];
}

describe('the address of a repository', () => {
  let relay: OpenRelay;
  let owner: Browser;
  let second: Browser;
  beforeAll(async () => {
    relay = await openTestRelay();
    owner = await relay.signIn();
    const agents = [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }];
    expect((await owner.fetch('/api/team', { method: 'PUT', json: { agents } })).status).toBe(204);
    second = await relay.signIn();
    const begun = await second.fetch('/api/home', { method: 'POST', json: { beside: true, anew: true } });
    expect([begun.status, await begun.text()]).toMatchObject([200, expect.anything()]);
  });
  afterAll(() => relay.close());
  const create = (browser: Browser, repository: string) =>
    browser.fetch('/v1/projects', { method: 'POST', json: { name: 'Inside', kind: 'git', repository } });

  it('refuses an inner address in any spelling to a second household, and names the field', async () => {
    for (const repository of spellings()) {
      const answer = await create(second, repository);
      expect([repository, answer.status]).toEqual([repository, 400]);
      expect(JSON.stringify(await answer.json())).toContain('repository');
    }
    expect(trapped).toBe(0);
  });

  it('stores the spelling that was checked', async () => {
    // A server that asks for a token: the project is created, and the token set later.
    const asking = createServer((_, response) => {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    });
    await new Promise<void>((listens) => asking.listen(0, '127.0.0.1', listens));
    const { port } = asking.address() as AddressInfo;
    const answer = await create(owner, `HTTP://LOCALHOST:${port}/a/../b%20c`);
    const project: unknown = await answer.json();
    expect([answer.status, project]).toMatchObject([201, {}]);
    expect(projectSchema.parse(project).repository).toBe(`http://localhost:${port}/b%20c`);
    asking.close();
  });

  it('does not call an address that was stored before such addresses were refused', async () => {
    const rights = { has: () => false, refusal: () => 'Only public addresses.', servers: 'public' } as const;
    const repositories = createRepositories({
      ...{ folder: join(folder, 'second'), hidden: folder, rights, tokenOf: () => Promise.resolve('secret') },
      lane: (work) => work(),
    });
    for (const [at, repository] of spellings().entries()) {
      const source = { kind: 'git', repository, baseBranch: 'main' } as const;
      const opened = repositories.of(`p${at}`, source).then((open) => open.base());
      await expect(opened, repository).rejects.toThrow();
    }
    expect(trapped).toBe(0);
  });
});

describe('a repository’s server', () => {
  it('does not follow a redirect to an inner address, in a fetch or a push', async () => {
    const inside = `http://127.0.0.1:${portOf(trap)}`;
    const rights = { has: () => true, refusal: () => 'No.', servers: 'any' } as const;
    const repositories = createRepositories({
      ...{ folder: join(folder, 'owner'), hidden: folder, rights, tokenOf: () => Promise.resolve('secret') },
      lane: (work) => work(),
    });
    const repository = `http://127.0.0.1:${portOf(leading)}/x`;
    const opened = await repositories.of('p', { kind: 'git', repository, baseBranch: 'main' });
    // A branch that could be pushed.
    const own = await repositories.of('p', { kind: 'folder', repository: '', baseBranch: '' });
    const { branch } = await own.base();
    for (const way of Object.values(gitAnswers(inside))) {
      lead = way;
      await expect(opened.base()).rejects.toThrow();
      await expect(opened.push(branch)).rejects.toThrow();
    }
    expect(trapped).toBe(0);
  });
});
