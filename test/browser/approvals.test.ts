/**
 * What an agent asks for, through the page: the whole command in its conversation, answered there
 * or on another page, once.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGuest, type Guest, QUIET } from '../support/chromium.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, teamScript, type ScriptedModel } from '../support/scripted-model.ts';
import { createVisitor, goWithin, type Visitor } from '../support/visitor.ts';

const COMMAND = 'wc -w notes.md > words.txt && cat words.txt';

const PROGRAM = fileURLToPath(new URL('../support/mcp-server.mjs', import.meta.url));
/** An MCP server that asks before it books a table. */
const TABLES = {
  tools: [{ name: 'book', description: 'Books a table.', inputSchema: { type: 'object', properties: {} } }],
  elicits: [
    {
      message: 'For whom is the table?',
      requestedSchema: {
        type: 'object',
        properties: {
          name: { type: 'string', title: 'Your name' },
          day: { type: 'string', format: 'date', title: 'Day' },
          seat: { type: 'string', title: 'Where to sit', enum: ['inside', 'outside'], default: 'outside' },
        },
        required: ['name'],
      },
    },
  ],
};

let folder: string;
let model: ScriptedModel;
let relay: TestRelay;
let profile: Guest;
let visitor: Visitor;
beforeAll(async () => {
  const team = teamScript();
  model = await startScriptedModel((request) => {
    const { last, results } = request;
    if (results.some((result) => result.startsWith('This waits for the human'))) return [{ say: 'I have asked you.' }];
    if (last.includes('Count the words')) return [{ call: 'run_command', input: { command: COMMAND } }];
    if (last.includes('Write it anew'))
      return [{ call: 'write_file', input: { path: 'notes.md', content: 'one two four\n' } }];
    if (last.includes('Write it down'))
      return [{ call: 'edit_file', input: { path: 'notes.md', old_text: 'two', new_text: 'twice' } }];
    if (last.includes('Book a table')) return [{ call: 'mcp__tables__book', input: {} }];
    if (results.some((result) => result.includes('All is answered.'))) return [{ say: 'The table is booked.' }];
    if (last.includes('The human said yes')) return [{ say: 'There are three words.' }];
    if (last.includes('The human said no')) return [{ say: 'Then I leave it.' }];
    return team(request);
  });
  folder = await mkdtemp(join(tmpdir(), 'approvals-'));
  await writeFile(join(folder, 'ways.json'), JSON.stringify(TABLES));
  relay = await startRelay({
    args: ['--scripts'],
    env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' },
  });
  profile = createGuest();
  visitor = await createVisitor(await profile.open({ viewport: { width: 1440, height: 900 }, ...QUIET }), relay.link);
});
afterAll(async () => {
  await profile.remove();
  await relay.stop();
  await model.close();
  await rm(folder, { recursive: true, force: true });
});

/** Pictures to look at: ROOST_PICTURES=/some/folder. */
async function picture(page: Visitor['page'], name: string): Promise<void> {
  const folder = process.env['ROOST_PICTURES'];
  if (folder === undefined) return;
  for (const width of [1440, 360]) {
    await page.setViewportSize({ width, height: 800 });
    await page.screenshot({ path: `${folder}/${name}-${width}.png` });
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

describe('Approvals', { timeout: 120_000 }, () => {
  it('shows an approval in the conversation and on its page, takes one answer, and records the call', async () => {
    const { page } = visitor;
    await visitor.begin();
    await visitor.hatch(1);

    const beside = await page.context().newPage();
    await beside.goto(new URL('/settings/agents', relay.url).href);
    await beside.getByRole('radio', { name: /^Asks before commands/ }).click();
    await beside.getByText('How far it may go saved. It applies now.').waitFor();
    await picture(beside, 'limits');
    await goWithin(beside, '/files');
    await beside
      .locator('input[type=file]')
      .setInputFiles([{ name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('one two three\n') }]);
    await beside.getByRole('button', { name: 'notes.md', exact: true }).waitFor();
    await goWithin(beside, '/inbox');
    await beside.getByText('Nothing is waiting for you.').waitFor();

    // The whole command, in the conversation and on the other page; answered there, it goes here.
    await visitor.open(1);
    expect(await visitor.ask('Count the words, please.')).toContain('I have asked you.');
    const card = page.getByRole('article', { name: /wants to run a command$/ });
    await card.getByText(COMMAND).waitFor();
    await picture(page, 'conversation');
    const there = beside.getByRole('article', { name: /wants to run a command$/ });
    await there.getByText(COMMAND).waitFor();
    await picture(beside, 'approvals');
    await there.getByRole('button', { name: 'Yes, once' }).click();
    await card.waitFor({ state: 'detached' });
    await page.getByText('There are three words.', { exact: true }).waitFor();
    await goWithin(beside, '/activity/calls');
    await beside.getByText(COMMAND).first().click();
    await beside
      .getByText(/^Exit status 0/)
      .or(beside.getByText('3 notes.md'))
      .first()
      .waitFor();
    await beside.getByText('you said yes, once').waitFor();

    // A change as it will apply, and a no with words.
    await goWithin(beside, '/settings/advanced');
    await beside.getByRole('combobox', { name: 'Works with files in its folder Everybody' }).selectOption('Asks you');
    await beside.getByText(/saved\. It applies now/).waitFor();
    expect(await visitor.ask('Write it down, please.')).toContain('I have asked you.');
    const edit = page.getByRole('article', { name: /wants to change notes\.md$/ });
    await edit.getByText('− two').waitFor();
    await edit.getByText('+ twice').waitFor();
    await edit.getByRole('button', { name: 'No', exact: true }).click();
    await edit.getByRole('textbox').fill('Leave that file, please.');
    expect(await visitor.axe()).toEqual([]);
    await edit.getByRole('button', { name: 'No', exact: true }).click();
    await page.getByText('Then I leave it.', { exact: true }).waitFor();
    await edit.waitFor({ state: 'detached' });

    // What would be replaced is what lies there now, also where that changes meanwhile, and nothing
    // large is fetched for it.
    expect(await visitor.ask('Write it anew, please.')).toContain('I have asked you.');
    const whole = page.getByRole('article', { name: /wants to write notes\.md$/ });
    await whole.getByText('− one two three').waitFor();
    await goWithin(beside, '/files');
    const put = (text: string) =>
      beside
        .locator('input[type=file]')
        .setInputFiles([{ name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from(text) }]);
    await put('five\n');
    await whole.getByText('− five').waitFor();
    await put('x'.repeat(2_100_000));
    await whole.getByText(/would be replaced\. It is 2\.1 MB long/).waitFor();
    await whole.getByText('+ one two four').waitFor();
    await whole.getByRole('button', { name: 'No', exact: true }).click();
    await whole.getByRole('button', { name: 'No', exact: true }).click();
    await whole.waitFor({ state: 'detached' });
    await goWithin(beside, '/activity/calls');
    await beside.getByText('you said no').first().waitFor();
    await picture(beside, 'account');
    await beside.close();
    expect(visitor.complaints).toEqual([]);
  });

  it("fills in an MCP server's form on a phone, and sends it to that server", async () => {
    const { page } = visitor;
    await goWithin(page, '/settings/mcp');
    await page.getByText('Paste settings').click();
    const program = { command: process.execPath, args: [PROGRAM, join(folder, 'ways.json'), join(folder, 'log')] };
    await page.getByLabel('Settings of another program').fill(JSON.stringify({ mcpServers: { tables: program } }));
    await page.getByText('Free on this machine').click();
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByRole('article', { name: 'tables' }).getByRole('checkbox', { name: 'book' }).click();
    await page.getByText('1 of 1 tools allowed.').waitFor();
    await goWithin(page, '/settings/advanced');
    await page.getByRole('combobox', { name: 'Uses MCP servers Everybody' }).selectOption('Without asking');
    await page.getByText(/saved\. It applies now/).waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    await visitor.open(1);
    const answer = visitor.ask('Book a table, please.');
    const card = page.getByRole('article', { name: 'tables asks you something' });
    await card.getByText('For whom is the table?').waitFor();
    await card.getByLabel('Your name').fill('Noa');
    await card.getByLabel('Day').fill('2026-12-24');
    await picture(page, 'question');
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await visitor.axe()).toEqual([]);
    // Nothing is wider than the phone.
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    await card.getByRole('button', { name: 'Send' }).click();
    expect(await answer).toContain('The table is booked.');
    await card.waitFor({ state: 'detached' });
    expect(await readFile(join(folder, 'log'), 'utf8')).toContain(
      '{"action":"accept","content":{"name":"Noa","day":"2026-12-24","seat":"outside"}}',
    );
    expect(visitor.complaints).toEqual([]);
  });
});
