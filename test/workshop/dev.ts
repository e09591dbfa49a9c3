/**
 * `npm run dev`: the page from its sources with hot reload, and the relay, which starts again when
 * its own change. One link leads to both. Their home is a folder of this clone, never the one that
 * `npm start` uses.
 *
 * `--port N` is the page's address (4750); the relay listens at the next one. Everything else is
 * handed to the relay: `npm run dev -- --log-level debug`.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startDevPage } from './dev/page.ts';
import { startDevRelay } from './dev/relay.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const PORT = '4750';

const args = process.argv.slice(2);
const at = args.findIndex((text) => text === '--port' || text.startsWith('--port='));
const isApart = args[at] === '--port';
const port = Number(at < 0 ? PORT : isApart ? args[at + 1] : args[at]?.slice('--port='.length));
if (!Number.isInteger(port) || port < 1 || port > 65_534)
  throw new RangeError('--port takes a number from 1 to 65534.');
const rest = at < 0 ? args : args.toSpliced(at, isApart ? 2 : 1);

const home = join(root, '.dev/home');
mkdirSync(home, { recursive: true });
const [page, relayPort] = [`http://127.0.0.1:${port}`, port + 1];
const say = (line: string) => void process.stdout.write(`${line.replaceAll(`http://127.0.0.1:${relayPort}`, page)}\n`);

/**
 * A relay that started again has another link; this browser is in already. Enter still prints it.
 */
let isLinkShown = false;
const LINK = /Open Roost:/;
const server = await startDevPage({ root, port, relayPort });
const relay = startDevRelay({
  root,
  args: ['--port', String(relayPort), '--home', home, '--no-open', ...rest],
  say(line) {
    if (LINK.test(line) && isLinkShown && process.stdin.isTTY !== true) return;
    isLinkShown ||= LINK.test(line);
    if (line.trim() !== '') say(line);
  },
});

let ending = false;
async function end(): Promise<void> {
  if (ending) process.exit(1);
  ending = true;
  await Promise.all([relay.close(), server.close()]);
  process.exit(0);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end());
