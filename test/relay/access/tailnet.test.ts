/**
 * The relay's address by Tailscale: made by one call, and known again after a restart. Tailscale
 * itself is a stand-in that keeps what it was told in a file, as the service does.
 */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deviceCodeSchema } from '../../../src/shared/protocol/device-codes.ts';
import { problemSchema } from '../../../src/shared/protocol/http.ts';
import { startRelay, type TestRelay } from '../../support/relay.ts';

const NAME = 'desk.tail1234.ts.net';
/** Answers `serve --bg`, `serve status --json` and `status --json` as Tailscale 1.60 does. */
const PROGRAM = `#!/bin/sh
cd "$(dirname "$0")"
case "$1 $2" in
  "serve status") cat served 2>/dev/null || echo '{}' ;;
  "serve --bg")
    [ -e refuses ] && { echo "Access denied: serve config denied" >&2; exit 1; }
    at=\${3#--https=}
    echo "{\\"TCP\\":{\\"$at\\":{\\"HTTPS\\":true}},\\"Web\\":{\\"${NAME}:$at\\":{\\"Handlers\\":{\\"/\\":{\\"Proxy\\":\\"$4\\"}}}}}" > served ;;
  "status --json") echo '{"BackendState":"Running","Self":{"DNSName":"${NAME}."}}' ;;
esac
`;

let folder: string;
let relay: TestRelay;
const start = (more: Partial<Parameters<typeof startRelay>[0]> = {}) =>
  startRelay({ env: { PATH: `${folder}:${process.env['PATH'] ?? ''}` }, ...more });
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-tailnet-'));
  await writeFile(join(folder, 'tailscale'), PROGRAM);
  await chmod(join(folder, 'tailscale'), 0o755);
});
afterEach(async () => {
  await relay.stop();
  await rm(folder, { recursive: true, force: true });
});

const tailnet = async () => (await relay.fetch('/api/tailnet')).json() as Promise<unknown>;
/** The status of a call that comes by this name. */
const byName = (host: string) =>
  new Promise<number>((resolve, reject) => {
    request({ port: relay.port, path: '/health', headers: { host } }, ({ statusCode = 0 }) => resolve(statusCode))
      .on('error', reject)
      .end();
  });

describe('The address by Tailscale', () => {
  it('is created by one call, put into the next code, accepted as a host, and kept after a restart', async () => {
    relay = await start();
    expect(await tailnet()).toEqual({ address: null, canServe: true });
    expect(await byName(NAME)).toBe(403);
    const made = await relay.fetch('/api/tailnet', { method: 'PUT' });
    expect(await made.json()).toEqual({ address: `https://${NAME}` });
    expect(await readFile(join(folder, 'served'), 'utf8')).toContain(`http://127.0.0.1:${relay.port}`);
    expect(await byName(NAME)).toBe(200);
    expect(await byName('other.tail1234.ts.net')).toBe(403);
    const code = deviceCodeSchema.parse(await (await relay.fetch('/api/device-codes', { method: 'POST' })).json());
    expect(code.address).toBe(`https://${NAME}`);

    const { port } = relay;
    await relay.stop();
    relay = await start({ port });
    await expect.poll(() => byName(NAME)).toBe(200);
  });

  it("leaves another program's service at the usual port, and uses its own", async () => {
    relay = await start();
    const other = { Web: { [`${NAME}:443`]: { Handlers: { '/': { Proxy: 'http://127.0.0.1:8080' } } } } };
    await writeFile(join(folder, 'served'), JSON.stringify(other));
    const made = await relay.fetch('/api/tailnet', { method: 'PUT' });
    expect(await made.json()).toEqual({ address: `https://${NAME}:${relay.port}` });
  });

  it("reports a refusal in Tailscale's own words", async () => {
    relay = await start();
    await writeFile(join(folder, 'refuses'), '');
    const refused = await relay.fetch('/api/tailnet', { method: 'PUT' });
    expect(refused.status).toBe(409);
    expect(problemSchema.parse(await refused.json())).toMatchObject({
      type: 'about:roost/no-tailnet',
      detail: 'Tailscale says: Access denied: serve config denied',
    });
    expect(await tailnet()).toEqual({ address: null, canServe: true });
  });

  it('cannot be created without Tailscale', async () => {
    await rm(join(folder, 'tailscale'));
    relay = await start();
    expect(await tailnet()).toEqual({ address: null, canServe: false });
    expect((await relay.fetch('/api/tailnet', { method: 'PUT' })).status).toBe(409);
  });
});
