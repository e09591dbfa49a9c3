/**
 * An agent's folder through a whole relay: the agent works in it by its tools, and the person sees
 * it, gives to it and takes from it by HTTP.
 */
import { link, mkdir, readdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { folderSchema } from '../../../../src/shared/protocol/endpoints/workspaces.ts';
import { scheduledSchema } from '../../../../src/shared/protocol/schedules.ts';
import { createHome, startRelay, type TestRelay } from '../../../support/relay.ts';
import { SNAPSHOT } from '../../../support/schedules.ts';
import { offeredIn, startScriptedModel, type Part, type ScriptedModel } from '../../../support/scripted-model.ts';

let model: ScriptedModel;
let relay: TestRelay;
let home: string;
/** What the agent does, a request each. */
let turns: readonly (readonly Part[])[];
const api = '/api/workspaces/a1';

const call = (method: string, path: string, json?: unknown) =>
  relay.fetch(path, { method, ...(json === undefined ? {} : { json }) });
const put = (path: string, body: Uint8Array<ArrayBuffer> | string, type = 'application/octet-stream') =>
  relay.fetch(`${api}/file?path=${encodeURIComponent(path)}`, {
    method: 'PUT',
    body,
    headers: { 'content-type': type },
  });
const file = (path: string, method = 'GET') => call(method, `${api}/file?path=${encodeURIComponent(path)}`);
async function listed(path = '') {
  const answer = await call('GET', `${api}?path=${encodeURIComponent(path)}`);
  expect(answer.status).toBe(200);
  return folderSchema.parse(await answer.json());
}

/** The agent works alone once, and does this; resolves with what each of its calls answered. */
async function works(...does: readonly (readonly Part[])[]): Promise<readonly string[]> {
  turns = [...does, [{ say: 'Done.' }]];
  const before = model.requests.length;
  const added = await call('POST', '/v1/pulse-routines', {
    kind: 'routine',
    agentId: 'a1',
    name: `Work ${before}`,
    instructions: 'Work.',
    timing: { kind: 'weekly', days: [1], time: '07:30' },
  });
  const { scheduleId } = scheduledSchema.parse(await added.json());
  expect((await call('POST', `/v1/pulse-routines/${scheduleId}/trigger`)).status).toBe(202);
  await expect.poll(() => model.requests.length - before).toBe(turns.length);
  await expect
    .poll(async () => JSON.stringify(await (await call('GET', `/v1/pulse-routines/${scheduleId}/history`)).json()))
    .toContain('"done"');
  return model.requests.slice(before + 1).flatMap(({ results }) => results);
}
const calls = (name: string, input: object): readonly Part[] => [{ call: name, input }];

beforeAll(async () => {
  turns = [];
  let at = 0;
  model = await startScriptedModel((request) => {
    if (request.body.messages.length <= 1) at = 0;
    return turns[at++] ?? [{ say: 'Done.' }];
  });
  home = await createHome();
  relay = await startRelay({ home, env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' } });
  await call('PUT', '/api/team', {
    agents: [
      { agentId: 'a1', name: 'Lyra', position: 0, retired: false },
      { agentId: 'a2', name: 'Wren', position: 1, retired: false },
    ],
  });
  await call('PUT', '/api/agent-snapshots/a1', { version: 'v1', snapshot: SNAPSHOT });
});
afterEach(async () => {
  await call('PUT', '/v1/agents/a1/config', { whole: true });
  for (const agentId of ['a1', 'a2']) {
    const { entries } = folderSchema.parse(await (await call('GET', `/api/workspaces/${agentId}`)).json());
    for (const { name } of entries)
      await call('DELETE', `/api/workspaces/${agentId}/file?path=${encodeURIComponent(name)}`);
  }
});
afterAll(async () => {
  await relay.stop();
  await model.close();
  await rm(home, { recursive: true, force: true });
});

describe('an agent in its folder', () => {
  it('writes, changes, finds and reads, and the person has it as it is', async () => {
    const results = await works(
      calls('list_files', {}),
      calls('write_file', { path: 'trip/plan.md', content: '# Lisbon\n\nThe tram is yellow.\n' }),
      calls('edit_file', { path: 'trip/plan.md', old_text: 'yellow', new_text: 'old & $& yellow' }),
      calls('search_files', { text: 'TRAM' }),
      calls('read_file', { path: 'trip/plan.md' }),
      calls('list_files', { deep: true }),
    );
    expect(results).toEqual([
      'Your folder is empty.',
      'trip/plan.md is written: 30 characters.',
      'trip/plan.md is changed in one place.',
      '> trip/plan.md:3: The tram is old & $& yellow.',
      '[trip/plan.md, lines 1–3 of 3]\n> # Lisbon\n> \n> The tram is old & $& yellow.',
      '> trip/\n> trip/plan.md (39 bytes)',
    ]);
    expect((await listed()).entries).toMatchObject([{ name: 'trip', kind: 'folder' }]);
    expect((await listed('trip')).entries).toMatchObject([{ name: 'plan.md', kind: 'file', bytes: 39 }]);
    const answer = await file('trip/plan.md');
    expect(await answer.text()).toBe('# Lisbon\n\nThe tram is old & $& yellow.\n');
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('content-disposition')).toContain("filename*=UTF-8''plan.md");
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('moves and deletes, and is told in words what it did and what cannot be', async () => {
    const results = await works(
      calls('write_file', { path: 'a.md', content: 'a' }),
      calls('write_file', { path: 'b.md', content: 'b' }),
      calls('move_file', { from: 'a.md', to: 'b.md' }),
      calls('move_file', { from: 'a.md', to: 'trip/2026/plan.md' }),
      calls('move_file', { from: 'b.md', to: 'trip' }),
      calls('move_file', { from: 'none.md', to: 'c.md' }),
      calls('move_file', { from: 'trip/2026/plan.md', to: '../out.md' }),
      calls('move_file', { from: 'trip/2026/plan.md', to: 'b.md', replace: true }),
      calls('read_file', { path: 'b.md' }),
      calls('delete_file', { path: 'trip' }),
      calls('delete_file', { path: 'trip', recursive: true }),
      calls('delete_file', { path: 'b.md' }),
      calls('delete_file', { path: 'b.md' }),
      calls('delete_file', { path: '../a2' }),
      calls('delete_file', { path: '', recursive: true }),
      calls('list_files', {}),
    );
    expect(results).toEqual([
      'a.md is written: 1 characters.',
      'b.md is written: 1 characters.',
      'b.md exists already. Nothing was moved.',
      'a.md is trip/2026/plan.md now.',
      'trip exists already, and is a folder: give the whole new path, with the new name. Nothing was moved.',
      'There is no none.md.',
      expect.stringContaining('leads out of the folder.'),
      'trip/2026/plan.md is b.md now, and replaced what was there.',
      '[b.md, lines 1–1 of 1]\n> a',
      'trip is a folder, and is not empty. Set recursive to delete everything in it.',
      'trip is deleted, with 1 folder in it.',
      'b.md is deleted.',
      'There is no b.md.',
      expect.stringContaining('leads out of the folder.'),
      'That is the folder itself.',
      'Your folder is empty.',
    ]);
  });

  it('looks at a picture, by what it is and not by its name, as its model sees it', async () => {
    const picture = (...parts: readonly (string | readonly number[])[]) =>
      Buffer.concat([
        ...parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
        Buffer.alloc(40),
      ]);
    const png = (width: number) =>
      picture('\x89PNG\r\n\x1a\n', [0, 0, 0, 13], 'IHDR', [0, 0, width >> 8, width & 255, 0, 0, 1, 2]);
    const files = {
      'a.png': png(640),
      b: picture([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1, 0xff, 0xc2, 0, 17, 8, 0, 48, 1, 0]),
      c: picture('GIF89a', [3, 0, 4, 0]),
      d: picture('RIFF', [9, 9, 9, 9], 'WEBPVP8X', [10, 0, 0, 0, 0, 0, 0, 0, 99, 0, 0, 199, 0, 0]),
      'no.png': Buffer.from('This is a text, whatever it is called.'),
      'wide.png': png(8_001),
      'big.png': Buffer.concat([png(9), Buffer.alloc(3_700_000)]),
    };
    for (const [path, body] of Object.entries(files)) await put(path, body);
    const results = await works(...Object.keys(files).map((path) => calls('view_image', { path })));
    const said = (at: number) => JSON.parse(results[at] ?? '') as [{ text: string }, unknown];
    const shown = (path: keyof typeof files, type: string) => ({
      type: 'image',
      source: { type: 'base64', media_type: type, data: files[path].toString('base64') },
    });
    expect(said(0)[0].text).toContain('a.png is a picture of 640 × 258 pixels (image/png, 64 bytes).');
    expect([0, 1, 2, 3].map((at) => said(at)[1])).toMatchObject([
      shown('a.png', 'image/png'),
      shown('b', 'image/jpeg'),
      shown('c', 'image/gif'),
      shown('d', 'image/webp'),
    ]);
    expect([1, 2, 3].map((at) => /\d+ × \d+/.exec(said(at)[0].text)?.[0])).toEqual(['256 × 48', '3 × 4', '100 × 200']);
    expect(results[4]).toContain('no.png is no picture that can be looked at');
    expect(results.slice(5)).toEqual([
      expect.stringMatching(/^wide\.png is a picture of 8001 × .* Make it smaller first\.$/),
      expect.stringMatching(/^big\.png is .* Make it smaller first\.$/),
    ]);
  });

  it('writes nothing that belongs to git, under any name that a disk takes for it', async () => {
    await put('evil', '[filter "x"]\n\tclean = touch here\n');
    const places = ['.git/config', 'project/.GIT/config', '.g\u200cit/hooks/pre-commit', 'git~1/config', '.git ./x'];
    const results = await works(
      ...places.map((path) => calls('write_file', { path, content: 'x' })),
      calls('move_file', { from: 'evil', to: 'project/.git/config' }),
      calls('move_file', { from: 'evil', to: '.git' }),
      calls('write_file', { path: '.gitignore', content: '*.log' }),
    );
    expect(results.slice(0, -1)).toEqual(results.slice(0, -1).map(() => expect.stringContaining('belongs to git')));
    expect(results.at(-1)).toContain('is written');
    expect((await listed()).entries.map(({ name }) => name).sort()).toEqual(['.gitignore', 'evil']);
  });

  it('says what cannot be done, and changes nothing', async () => {
    await put('a.md', 'one two one');
    await put('photo.png', new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1]));
    const results = await works(
      calls('edit_file', { path: 'a.md', old_text: 'three', new_text: 'x' }),
      calls('edit_file', { path: 'a.md', old_text: 'one', new_text: 'x' }),
      calls('read_file', { path: '../../sealing.key' }),
      calls('read_file', { path: 'photo.png' }),
      calls('read_file', { path: 'a.md', offset: 9 }),
      calls('write_file', { path: '/etc/cron.d/mine', content: 'x' }),
      calls('write_file', { path: 'a.md/inner', content: 'x' }),
      calls('edit_file', { path: 'a.md', old_text: 'one', new_text: '1', all: true }),
    );
    expect(results).toEqual([
      expect.stringContaining('a.md does not contain that text.'),
      expect.stringContaining('a.md contains that text 2 times.'),
      expect.stringContaining('leads out of the folder.'),
      'photo.png is no text (6 bytes).',
      '[a.md has 1 lines; there is nothing from line 9 on.]',
      expect.stringContaining('is not a path in the folder'),
      expect.stringContaining('a.md is no folder'),
      'a.md is changed in 2 places.',
    ]);
    expect(await (await file('a.md')).text()).toBe('1 two 1');
  });

  it('shows a limited part of a huge file or list, and where the rest is', async () => {
    await put('log', Array.from({ length: 5_000 }, (_, n) => `line ${n + 1} ${'x'.repeat(20)}`).join('\n'));
    await put('wide', 'y'.repeat(100_000));
    const [first = '', rest = '', wide = '', hits = ''] = await works(
      calls('read_file', { path: 'log', limit: 5_000 }),
      calls('read_file', { path: 'log', offset: 4_999 }),
      calls('read_file', { path: 'wide' }),
      calls('search_files', { text: 'line' }),
    );
    expect(first.length).toBeLessThan(30_200);
    const next = /\[It goes on: read from line (\d+)\.\]$/.exec(first)?.[1];
    expect(first.startsWith(`[log, lines 1–${Number(next) - 1} of 5000]\n> line 1 `)).toBe(true);
    expect(rest.split('\n')).toHaveLength(3);
    expect(wide.length).toBeLessThan(30_200);
    expect(wide).toContain(
      '[Line 1 goes on, to its character 100,000: it is longer than what is given at once. The rest: read_file with offset 1 and column 30001.]',
    );
    expect(hits.split('\n')).toHaveLength(201);
    const [behind, end, none] = await works(
      calls('read_file', { path: 'wide', column: 30_001 }),
      calls('read_file', { path: 'wide', column: 99_999 }),
      calls('read_file', { path: 'log', offset: 2, limit: 1, column: 6 }),
    );
    expect(behind).toContain('column 60001.]');
    expect(end).toBe('[wide, lines 1–1 of 1, line 1 from its character 99999]\n> yy');
    expect(none).toBe(
      '[log, lines 2–2 of 5000, line 2 from its character 6]\n> 2 xxxxxxxxxxxxxxxxxxxx\n[It goes on: read from line 3.]',
    );
  });

  it('comes to the end of a folder with thousands of files, page by page, and is told how many there are', async () => {
    const [household = ''] = await readdir(join(home, 'workspaces'));
    const many = join(home, 'workspaces', household, 'a1', 'many');
    await mkdir(many, { recursive: true });
    await Promise.all(Array.from({ length: 1_203 }, (_, n) => writeFile(join(many, `f${1_000 + n}`), 'needle')));
    const [first = '', second = '', third = '', beyond, deep = '', hits = ''] = await works(
      calls('list_files', { path: 'many' }),
      calls('list_files', { path: 'many', offset: 501 }),
      calls('list_files', { path: 'many', offset: 1_001 }),
      calls('list_files', { path: 'many', offset: 1_204 }),
      calls('list_files', { deep: true }),
      calls('search_files', { text: 'needle' }),
    );
    expect(first).toMatch(/\n\[1–500 of 1,203\. The rest: list_files with offset 501\.\]$/);
    expect(second).toMatch(/^> many\/f1500 .*\n\[501–1,000 of 1,203\. The rest: list_files with offset 1001\.\]$/s);
    expect(third).toMatch(/> many\/f2202 \(6 bytes\)\n\[1,001–1,203 of 1,203\.\]$/);
    expect(beyond).toBe('[There are 1,203, and none from 1,204 on.]');
    expect(deep).toMatch(/\n\[1–500 of 1,204\. The rest: list_files with offset 501\.\]$/);
    expect(hits).toMatch(
      /\n\[The first 200; there are more\. Search a folder in it, or for more words, to see them\.\]$/,
    );
  });

  it('says what a search or a list has left out, and why', async () => {
    const [household = ''] = await readdir(join(home, 'workspaces'));
    const own = join(home, 'workspaces', household, 'a1');
    await put('text.md', `${'x'.repeat(400)} needle ${'y'.repeat(400)}`);
    await put('photo.png', new Uint8Array([0x89, 0x50, 0, 1]));
    for (let n = 0; n < 7; n++)
      await truncate(await put(`large-${n}`, 'x').then(() => join(own, `large-${n}`)), 5_000_001);
    await link(join(own, 'text.md'), join(own, 'twice'));
    let deep = join(own, 'deep');
    for (let n = 0; n < 205; n++) deep = join(deep, 'd');
    await mkdir(deep, { recursive: true });
    const [hits = '', list = ''] = await works(
      calls('search_files', { text: 'needle' }),
      calls('list_files', { path: 'deep', deep: true }),
    );
    const lines = hits.split('\n');
    expect(lines.slice(0, -1).join('\n')).toBe(
      [
        'Nothing was found.',
        '[Not looked through, since they are too large or too much together: “large-0”, “large-1”, “large-2”, “large-3”, “large-4” and 2 more.]',
        '[Not looked through, since they cannot be read: “text.md”, “twice”.]',
        '[Not looked through, since they are no text: 1.]',
      ].join('\n'),
    );
    expect(lines.at(-1)).toMatch(/^\[Not looked into, since it lies too deep: “deep\/d\/d.*”\.\]$/);
    expect(list).toMatch(/\n\[Not looked into, since it lies too deep: “deep/);
  });

  it('shows a limited part of long names, and where the rest is', async () => {
    const folder = 'deep'.padEnd(200, 'x');
    for (let n = 0; n < 20; n++)
      await put(`${folder}/${folder}/${folder}/f${n}`.padEnd(800, 'x'), 'needle '.repeat(60));
    for (let n = 0; n < 130; n++) await put(`${folder}/${n}-`.padEnd(450, 'y'), 'needle');
    const answers = await works(
      calls('list_files', { deep: true }),
      calls('list_files', { path: folder }),
      calls('search_files', { text: 'needle' }),
    );
    for (const answer of answers) {
      expect(answer.length).toBeLessThan(31_000);
      expect(answer.length).toBeGreaterThan(28_000);
    }
    const [all = '', one = '', hits = ''] = answers;
    expect(all).toMatch(/\n\[1–\d+ of 153\. The rest: list_files with offset \d+\.\]$/);
    expect(one).toMatch(/\n\[1–\d+ of 131\. The rest: list_files with offset \d+\.\]$/);
    expect(hits).toMatch(
      /\n\[The first \d+; there are \d+ more\. Search a folder in it, or for more words, to see them\.\]$/,
    );
  });

  it('changes no file into more than could be read again', async () => {
    await put('a', 'a'.repeat(200_000));
    expect(await works(calls('edit_file', { path: 'a', old_text: 'a', new_text: 'b'.repeat(60), all: true }))).toEqual([
      expect.stringContaining('a would be 12,000,000 characters long by that'),
    ]);
    expect((await listed()).entries).toMatchObject([{ name: 'a', bytes: 200_000 }]);
  });

  it("hides other agents' folders, and has no file tools when the person says so", async () => {
    await relay.fetch('/api/workspaces/Wren/file?path=secret.md', {
      method: 'PUT',
      body: 'Wren’s own',
      headers: { 'content-type': 'application/octet-stream' },
    });
    const results = await works(calls('list_files', { deep: true }), calls('read_file', { path: '../a2/secret.md' }));
    expect(results[0]).toBe('Your folder is empty.');
    expect(results[1]).toContain('leads out of the folder');
    expect((await call('PUT', '/v1/agents/a1/config', { coordination: { toolsets: { files: 'off' } } })).status).toBe(
      200,
    );
    const [refused] = await works(calls('list_files', {}));
    expect(refused).toContain('There is no tool “list_files” here.');
    const tools = model.requests.slice(-1).flatMap(offeredIn);
    expect(tools).toContain('message_agent');
    expect(tools).toContain('read_thread');
    expect(tools.filter((name) => name.endsWith('_file') || name.endsWith('_files'))).toEqual([]);
  });
});

describe('the person at an agent’s folder', () => {
  it('shows file sizes and folder totals as they are written, replaced and removed', async () => {
    const sizes = async (path: string) => (await listed(path)).entries.map(({ name, bytes }) => `${name} ${bytes}`);
    await put('sized/one.txt', '12345');
    await put('sized/./deep//two.txt', '1234567');
    expect(await sizes('')).toContain('sized 12');
    expect(await sizes('./sized/')).toEqual(['deep 7', 'one.txt 5']);
    await put('sized/deep/two.txt', '12');
    expect(await sizes('')).toContain('sized 7');
    expect((await file('sized/deep', 'DELETE')).status).toBe(204);
    expect(await sizes('')).toContain('sized 5');
    expect((await file('sized', 'DELETE')).status).toBe(204);
  });

  it('puts, gets, takes away, and takes all of it as a zip, links left out', async () => {
    expect((await put('notes/日 & ü.txt', 'hello')).status).toBe(204);
    const large = new Uint8Array(700_000).map((_, i) => i % 251);
    expect((await put('big.bin', large)).status).toBe(204);
    const [household = ''] = await readdir(join(home, 'workspaces'));
    await symlink('/etc/passwd', join(home, 'workspaces', household, 'a1', 'way'));
    const same = (bytes: Uint8Array | ArrayBuffer | undefined) =>
      Buffer.from(bytes ? new Uint8Array(bytes) : []).equals(large);
    expect(same(await (await file('big.bin')).arrayBuffer())).toBe(true);
    const zip = await call('GET', `${api}/zip`);
    const files = unzipSync(new Uint8Array(await zip.arrayBuffer()));
    expect(Object.keys(files).sort()).toEqual(['ROOST-LEFT-OUT.txt', 'big.bin', 'notes/日 & ü.txt']);
    expect(Buffer.from(files['ROOST-LEFT-OUT.txt'] ?? []).toString()).toContain(
      '"way": it is a link, and links are not followed',
    );
    expect(same(files['big.bin'])).toBe(true);
    const part = unzipSync(new Uint8Array(await (await call('GET', `${api}/zip?path=notes`)).arrayBuffer()));
    expect(Object.keys(part)).toEqual(['notes/日 & ü.txt']);
    expect((await file('notes', 'DELETE')).status).toBe(204);
    expect((await listed()).entries.map(({ name }) => name)).toEqual(['big.bin', 'way']);
    expect((await listed()).used.bytes).toBe(700_000);
  });

  it('shows the first of very many entries', async () => {
    const [household = ''] = await readdir(join(home, 'workspaces'));
    const folder = join(home, 'workspaces', household, 'a1', 'many');
    await mkdir(folder, { recursive: true });
    await Promise.all(Array.from({ length: 2_010 }, (_, n) => writeFile(join(folder, `f${n}`), '')));
    const { entries, more } = await listed('many');
    expect([entries.length, more]).toEqual([2_000, 10]);
  });

  it('reports an error, and changes nothing', async () => {
    const wrong = z.looseObject({ type: z.string(), detail: z.string() });
    const problemOf = async (answer: Promise<Response>) => {
      const response = await answer;
      return [response.status, wrong.parse(await response.json()).type];
    };
    await put('a.md', 'x');
    expect(await problemOf(file('../../sealing.key'))).toEqual([400, 'about:roost/bad-path']);
    expect(await problemOf(file('none.md'))).toEqual([404, 'about:roost/not-found']);
    expect(await problemOf(file('none.md', 'DELETE'))).toEqual([404, 'about:roost/not-found']);
    expect(await problemOf(file('', 'DELETE'))).toEqual([400, 'about:roost/not-a-file']);
    expect(await problemOf(call('GET', `${api}?path=a.md`))).toEqual([400, 'about:roost/not-a-folder']);
    expect(await problemOf(call('GET', `${api}/zip?path=a.md`))).toEqual([400, 'about:roost/not-a-folder']);
    expect(await problemOf(call('GET', '/api/workspaces/nobody'))).toEqual([404, expect.any(String)]);
    // More than a zip holds: it would be torn. It takes no room on the disk.
    await put('more/a.md', 'x');
    const [household = ''] = await readdir(join(home, 'workspaces'));
    await truncate(join(home, 'workspaces', household, 'a1', 'more', 'a.md'), 5_000_000_000);
    // Counted anew.
    await put('b.md', 'x');
    await file('b.md', 'DELETE');
    expect(await problemOf(call('GET', `${api}/zip?path=more`))).toEqual([413, 'about:roost/too-large']);
    expect((await file('more', 'DELETE')).status).toBe(204);
    expect(await problemOf(put('b.md', 'x', 'text/html'))).toEqual([415, 'about:roost/not-bytes']);
    expect(await problemOf(put('b.md', new Uint8Array(30_000_001)))).toEqual([413, 'about:roost/too-large']);
    expect((await listed()).entries.map(({ name }) => name)).toEqual(['a.md']);
  });

  it('refuses a credential, and anybody without a sign-in', async () => {
    await put('a.md', 'x');
    const made = await call('POST', '/api/credentials', { agentId: 'a1', label: 'a program' });
    const { secret } = z.looseObject({ secret: z.string() }).parse(await made.json());
    for (const headers of [{}, { authorization: `Bearer ${secret}` }])
      for (const [method, path] of [
        ['GET', api],
        ['GET', `${api}/file?path=a.md`],
        ['PUT', `${api}/file?path=b.md`],
        ['DELETE', `${api}/file?path=a.md`],
        ['GET', `${api}/zip`],
      ] as const) {
        const answer = await fetch(`${relay.url}${path}`, { method, headers });
        expect([401, 403]).toContain(answer.status);
      }
    expect((await listed()).entries).toHaveLength(1);
  });

  it('finds it again after the relay was killed', async () => {
    await put('kept.md', 'still here');
    const signIn = await relay.signIn();
    await relay.kill('SIGKILL');
    relay = await startRelay({
      home,
      signIn,
      env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' },
    });
    expect(await (await file('kept.md')).text()).toBe('still here');
  });
});

it('A forgotten agent’s folder goes, with the account of its calls, what was set and what waited for it, and nothing that a link led to; nobody else’s, and nobody’s who is there', async () => {
  const team = (agents: readonly string[], forgotten?: readonly string[]) =>
    call('PUT', '/api/team', {
      agents: agents.map((agentId, position) => ({ agentId, name: `Name ${position}`, position, retired: false })),
      ...(forgotten === undefined ? {} : { forgotten }),
    });
  const accounted = async () => await (await call('GET', '/api/calls?agent=a1')).text();
  await put('plan.md', 'A plan.');
  await works(calls('write_file', { path: 'mine.md', content: 'Of a secret.' }));
  expect(await accounted()).toContain('Of a secret.');
  /** Everything else that stands of an agent, in every list that a page or a program is shown. */
  const left = async (agentId: string) => {
    const lists = [
      `/v1/agents/${agentId}/config`,
      `/api/agents/${agentId}/inbox`,
      '/api/credentials',
      '/v1/pulse-routines',
      '/v1/routine-proposals',
    ];
    const all = await Promise.all(lists.map(async (path) => await (await call('GET', path)).text()));
    return [...all.join('\n').matchAll(/(?:Limit|Letter|Program|Routine) of \w+/g)].map(([found]) => found).sort();
  };
  const ALL = (agentId: string) => ['Letter', 'Limit', 'Program', 'Routine'].map((what) => `${what} of ${agentId}`);
  const secretOf = new Map<string, string>();
  for (const agentId of ['a1', 'a2']) {
    const coordination = { allowed_commands: [`Limit of ${agentId}`] };
    expect((await call('PUT', `/v1/agents/${agentId}/config`, { coordination })).status).toBe(200);
    const made = await call('POST', '/api/credentials', { agentId, label: `Program of ${agentId}` });
    secretOf.set(agentId, z.looseObject({ secret: z.string() }).parse(await made.json()).secret);
    const timing = { kind: 'weekly', days: [1], time: '07:30' };
    const routine = { kind: 'routine', agentId, name: `Routine of ${agentId}`, instructions: 'Work.', timing };
    expect((await call('POST', '/v1/pulse-routines', routine)).status).toBe(201);
  }
  // One who asks is answered by a letter, and writes one to the other.
  await call('PUT', '/v1/agents/a1/config', {
    coordination: { allowed_commands: ['Limit of a1'], tools: { list_team: 'ask' } },
  });
  await works(calls('list_team', {}), calls('message_agent', { to: 'Wren', message: 'Letter of a2' }));
  const { waiting } = (await (await call('GET', '/api/approvals')).json()) as { waiting: { callId: string }[] };
  await call('POST', `/api/approvals/${waiting[0]?.callId ?? ''}/answer`, { answer: 'no', words: 'Letter of a1' });
  for (const agentId of ['a1', 'a2'])
    await expect.poll(() => left(agentId)).toEqual(expect.arrayContaining(ALL(agentId)));
  const [household = ''] = await readdir(join(home, 'workspaces'));
  const root = join(home, 'workspaces', household);
  const outside = join(home, 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'kept'), 'kept');
  await symlink(outside, join(root, 'a1', 'out'));
  await mkdir(join(root, 'b1'), { recursive: true });
  await writeFile(join(root, 'b1', 'theirs.md'), 'theirs');
  // Who is not named is only away: a page that does not know of it yet forgets nobody.
  expect((await team(['b1'])).status).toBe(204);
  expect((await team(['a1', 'b1'], ['a1', 'b1', 'lead'])).status).toBe(204);
  expect((await readdir(root)).sort()).toEqual(expect.arrayContaining(['a1', 'b1']));
  expect((await team(['b1'], ['a1', 'nobody', '../b1', '..'])).status).toBe(204);
  expect(await readdir(root)).not.toContain('a1');
  expect(await readdir(join(root, 'b1'))).toEqual(['theirs.md']);
  expect(await readdir(outside)).toEqual(['kept']);
  await team(['a1', 'a2']);
  expect(await accounted()).not.toContain('Of a secret.');
  expect((await left('a1')).filter((found) => found.endsWith('a1'))).toEqual([]);
  expect(await left('a2')).toEqual(expect.arrayContaining(ALL('a2')));
  const who = async (agentId: string) =>
    (
      await fetch(`${relay.url}/mcp`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secretOf.get(agentId) ?? ''}` },
      })
    ).status;
  expect([await who('a1'), (await who('a2')) === 401]).toEqual([401, false]);
});

it('A script that an agent’s folder holds is run as the person has set it, also once it was replaced', async () => {
  const own = await createHome();
  const other = await startRelay({ home: own, args: ['--scripts', '--rehearsal', '{"delayMs":0}'] });
  try {
    const ask = (method: string, path: string, json?: unknown) =>
      other.fetch(path, { method, ...(json === undefined ? {} : { json }) });
    const give = (body: string) =>
      other.fetch(`${api}/file?path=look.sh`, {
        method: 'PUT',
        body,
        headers: { 'content-type': 'application/octet-stream' },
      });
    await ask('PUT', '/api/team', { agents: [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }] });
    expect((await give('echo yes >> ran')).status).toBe(204);
    const timing = { kind: 'weekly', days: [1], time: '07:30' };
    const script = { kind: 'script', agentId: 'a1', name: 'Look', script: 'look.sh', timing, on_failure: 'ignore' };
    const added = await ask('POST', '/v1/pulse-routines', script);
    const { scheduleId } = scheduledSchema.parse(await added.json());
    const run = async () => {
      expect((await ask('POST', `/v1/pulse-routines/${scheduleId}/trigger`)).status).toBe(202);
    };
    const history = async () => await (await ask('GET', `/v1/pulse-routines/${scheduleId}/history`)).text();
    await run();
    await expect.poll(async () => await (await ask('GET', `${api}/file?path=ran`)).text()).toBe('yes\n');
    await expect.poll(history).toContain('"done"');
    await give('echo planted >> ran');
    await run();
    // The text that the person agreed to, and not the one that lies there now.
    await expect.poll(async () => await (await ask('GET', `${api}/file?path=ran`)).text()).toBe('yes\nyes\n');
  } finally {
    await other.stop();
    await rm(own, { recursive: true, force: true });
  }
});
