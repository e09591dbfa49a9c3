/** An MCP server that `npx` fetches, in the sandbox, from a registry of the test's own. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { mcpServerSchema, attachmentSchema } from '../../../../src/shared/protocol/mcp.ts';
import { needsOf, runnerSchema, withNeeds } from '../../../../src/shared/protocol/runners.ts';
import { startHands, type Hands } from '../../../support/hands.ts';

const PROGRAM = fileURLToPath(new URL('../../../support/mcp-server.mjs', import.meta.url));
const NAME = 'roost-test-tools';
const ECHO = { name: 'echo', description: 'Says it again.', inputSchema: { type: 'object' } };

let folder: string;
let registry: Server;
let hands: Hands;
const host = () => `127.0.0.1:${(registry.address() as AddressInfo).port}`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-npx-'));
  const source = join(folder, 'source');
  await mkdir(source);
  await writeFile(join(source, 'index.mjs'), `#!/usr/bin/env node\n${await readFile(PROGRAM, 'utf8')}`, {
    mode: 0o755,
  });
  const about = { name: NAME, version: '1.0.0', bin: { [NAME]: 'index.mjs' } };
  await writeFile(join(source, 'package.json'), JSON.stringify(about));
  await promisify(execFile)('npm', ['pack', '--pack-destination', folder], { cwd: source });
  const packed = await readFile(join(folder, `${NAME}-1.0.0.tgz`));
  registry = createServer((request, response) => {
    if (request.url?.endsWith('.tgz')) return void response.end(packed);
    if (request.url !== `/${NAME}`) return void response.writeHead(404).end('{}');
    const dist = { tarball: `http://${host()}/${NAME}/-/${NAME}-1.0.0.tgz` };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ name: NAME, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': { ...about, dist } } }),
    );
  });
  await new Promise<void>((up) => registry.listen(0, '127.0.0.1', up));
  const env = { npm_config_registry: `http://${host()}/` };
  hands = await startHands(['--scripts', '--web-addresses', 'own'], { env });
}, 60_000);
afterAll(async () => {
  await hands.close();
  await new Promise((down) => registry.close(down));
  await rm(folder, { recursive: true, force: true });
});

describe('an MCP server that npx fetches', () => {
  it('starts in the sandbox with what the page offers to give it: the host of the registry, and the folder that it names', async () => {
    const given = join(folder, 'given');
    await mkdir(given);
    await writeFile(join(given, 'ways.json'), JSON.stringify({ tools: [ECHO] }));
    const asked = await hands.call('GET', '/api/mcp-runners');
    const { runners } = z.object({ runners: z.array(runnerSchema) }).parse(await asked.json());
    const npx = runners.find(({ command }) => command === 'npx');
    expect(npx).toMatchObject({ hosts: [host()], env: { npm_config_registry: `http://${host()}/` } });
    const pasted = attachmentSchema.parse({
      kind: 'program',
      command: 'npx',
      args: ['-y', NAME, join(given, 'ways.json')],
    });
    const needs = needsOf(pasted, runners, true);
    expect(needs).toMatchObject({ hosts: [host()], folders: [given] });
    const attachment = withNeeds(pasted, needs);
    const answer = await hands.call('POST', '/api/mcp-servers', { name: 'fetched', attachment });
    const server = mcpServerSchema.parse(await answer.json());
    expect(server).toMatchObject({
      state: 'connected',
      problem: null,
      box: { folder: given, network: [host()] },
      tools: [{ name: 'echo' }],
    });
  }, 150_000);
});
