/**
 * An MCP server over its input and output, written by hand so that it can do what no library would:
 * it does at each request what the file named in its arguments says just then.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { clearInterval, setInterval, setTimeout } from 'node:timers';

const [, , file, log] = process.argv;
const ways = () => JSON.parse(readFileSync(file, 'utf8'));
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const note = (line) => log && appendFileSync(log, `${line}\n`);
note(`pid ${process.pid}`);
if (ways().child) {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  note(`child ${child.pid}`);
}
if (ways().deaf) for (const name of ['SIGTERM', 'SIGINT']) process.on(name, () => note(name));

/** Calls that wait for what was asked; by the id of the question. */
const awaited = new Map();
let questions = 0;

const DO = {
  hang: () => undefined,
  exit: () => {
    process.stderr.write(ways().says ?? '', () => process.exit(3));
  },
  nonsense: () => process.stdout.write('this is no JSON\n{"jsonrpc":"2.0","id":"none"}\n', () => process.exit(3)),
  huge: (bytes) => process.stdout.write(`${'x'.repeat(bytes)}`),
  endless: async (chunks) => {
    for (let i = 0; i < chunks; i++)
      if (!process.stdout.write('x'.repeat(1_000_000))) await new Promise((go) => process.stdout.once('drain', go));
    note('wrote it all');
  },
  flood: (count = 20_000) => {
    for (let i = 0; i < count; i++) write({ method: 'notifications/message', params: { level: 'info', data: i } });
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) {
    note(`answered ${id} ${JSON.stringify(error ?? result)}`);
    return awaited.get(id)?.();
  }
  const how = ways();
  const [does, value] = how[method] ?? [];
  note(`${method} ${JSON.stringify(params ?? {})}`);
  for (const each of how.logs ?? []) process.stdout.write(`${JSON.stringify(each)}\n`);
  const { times, everyMs } = how.progress ?? {};
  if (times && method === 'tools/call') {
    let progress = 0;
    const timer = setInterval(() => {
      const progressToken = params._meta?.progressToken;
      if (++progress < times) return write({ method: 'notifications/progress', params: { progressToken, progress } });
      clearInterval(timer);
      write({ id, result: { content: [{ type: 'text', text: params.name }] } });
    }, everyMs);
    return;
  }
  if (does === 'result') return write({ id, result: value });
  if (does === 'error') return write({ id, error: value });
  if (does) return DO[does](value);
  if (method === 'initialize')
    write({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'test', version: '1' },
      },
    });
  else if (method === 'tools/list' && params?.cursor) write({ id, ...how.secondPage });
  else if (method === 'tools/list')
    write({ id, result: { tools: how.tools, ...(how.secondPage ? { nextCursor: '2' } : {}) } });
  else if (method === 'tools/call') {
    const answer = how.answers?.[params.arguments?.text];
    if (answer) return write({ id, ...answer });
    // Asks these in turn, and answers when all are answered.
    if (how.elicits) {
      const left = [...how.elicits];
      const next = () => {
        const wants = left.shift();
        if (!wants) return write({ id, result: { content: [{ type: 'text', text: 'All is answered.' }] } });
        const asked = `question-${++questions}`;
        awaited.set(asked, next);
        write({ id: asked, method: 'elicitation/create', params: wants });
        if (how.takesBackMs)
          setTimeout(() => {
            write({ method: 'notifications/cancelled', params: { requestId: asked, reason: 'not needed' } });
            next();
          }, how.takesBackMs);
      };
      return next();
    }
    // What it asks of whoever calls it, it asks before it answers.
    for (const [asked, wants] of Object.entries(how.asks ?? {})) write({ id: asked, method: asked, params: wants });
    write({ id, result: { content: [{ type: 'text', text: `${params.name} ${JSON.stringify(params.arguments)}` }] } });
    if (how.changes) write({ method: 'notifications/tools/list_changed' });
  } else if (id !== undefined) write({ id, result: {} });
});
process.stdin.on('close', () => !ways().deaf && process.exit(0));
if (ways().deaf) setInterval(() => undefined, 1_000);
