/**
 * An agent's folder, through the page: what it writes is seen at once, what is given to it lies
 * there, and comes back byte for byte.
 */
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatStamp } from '../../src/shared/domain/stamp.ts';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { PAGE_KEY } from '../../src/shared/protocol/page-key.ts';
import { createGuest, type Guest, QUIET } from '../support/chromium.ts';
import { createOwnerLine } from '../support/owner-line.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, teamScript, type ScriptedModel } from '../support/scripted-model.ts';
import { createVisitor, type Visitor } from '../support/visitor.ts';

const PLAN = '# Lisbon\n\n- The tram is **yellow**.\n';

let model: ScriptedModel;
let relay: TestRelay;
let profile: Guest;
let visitor: Visitor;
beforeAll(async () => {
  const team = teamScript();
  model = await startScriptedModel((request) => {
    if (request.results.some((result) => result.startsWith('trip/plan.md is written')))
      return [{ say: 'The plan lies in my folder.' }];
    if (request.last.includes('Plan our trip'))
      return [{ call: 'write_file', input: { path: 'trip/plan.md', content: PLAN } }];
    return team(request);
  });
  relay = await startRelay({ env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' } });
  profile = createGuest();
  visitor = await createVisitor(await profile.open({ viewport: { width: 1280, height: 900 }, ...QUIET }), relay.link);
});
afterAll(async () => {
  await profile.remove();
  await relay.stop();
  await model.close();
});

describe('Files', { timeout: 120_000 }, () => {
  it('writes, shows, uploads and downloads files unchanged while the agent works', async () => {
    const { page } = visitor;
    await visitor.begin();
    await visitor.hatch(1);

    // A second tab looks on: what is written shows there by itself.
    const beside = await page.context().newPage();
    await beside.goto(new URL('/files', relay.url).href);
    await beside.getByText(/^Nothing yet\. Ask .* for something in writing\.$/).waitFor();
    await visitor.open(1);
    expect(await visitor.ask('Plan our trip, please.')).toContain('The plan lies in my folder.');
    await beside.getByRole('link', { name: /^trip/ }).click();
    await beside.getByRole('button', { name: 'plan.md', exact: true }).click();
    const dialog = beside.getByRole('dialog', { name: 'plan.md' });
    await dialog.getByRole('heading', { name: 'Lisbon' }).waitFor();
    const saved = beside.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Download' }).click();
    expect(await readFile((await (await saved).path()) ?? '', 'utf8')).toBe(PLAN);
    await dialog.getByRole('button', { name: 'Close' }).click();

    // A picture that is none is no page either, whatever it is called.
    const picture = Buffer.from('<script>document.title = "taken"</script>');
    await beside.locator('input[type=file]').setInputFiles([
      { name: 'photo.png', mimeType: 'image/png', buffer: picture },
      { name: 'page.html', mimeType: 'text/html', buffer: picture },
    ]);
    await beside.getByRole('button', { name: 'page.html', exact: true }).click();
    await beside.getByRole('dialog', { name: 'page.html' }).getByText('document.title = "taken"').waitFor();
    await beside.keyboard.press('Escape');
    expect(await beside.title()).toContain('Files of Name1');
    const zipped = beside.waitForEvent('download');
    await beside.getByRole('button', { name: 'Download' }).click();
    const files = unzipSync(new Uint8Array(await readFile((await (await zipped).path()) ?? '')));
    expect(Object.keys(files).sort()).toEqual(['trip/page.html', 'trip/photo.png', 'trip/plan.md']);
    expect(Buffer.from(files['trip/photo.png'] ?? []).equals(picture)).toBe(true);
    expect(await visitor.axe()).toEqual([]);

    await beside.getByRole('button', { name: 'More for photo.png' }).click();
    await beside.getByRole('menuitem', { name: 'Delete' }).click();
    await beside.getByRole('button', { name: 'Delete' }).click();
    await beside.getByRole('button', { name: 'photo.png', exact: true }).waitFor({ state: 'detached' });
    await beside.close();
    expect(visitor.complaints).toEqual([]);
  });

  it('deletes files from the relay when their agent is forgotten for good, and not before', async () => {
    const { page } = visitor;
    const owner = createOwnerLine(page);
    const { identities } = await owner.call('household');
    const agentId = identities.find(({ name }) => name === 'Name1')?.agentId ?? '';
    const workspaces = join(relay.home, 'workspaces');
    const folders = async () => {
      const [household = ''] = await readdir(workspaces);
      return await readdir(join(workspaces, household));
    };
    expect(await folders()).toEqual([agentId]);
    await visitor.press('End session');
    await visitor.untilSeats('asleep', (seats) => seats.some(({ state }) => state === 'sleeping'));
    const day = 86_400_000;
    const asked = (n: number, finalAt: number): Doc => ({
      _id: `forget:${n}`,
      type: 'forget',
      schema: 1,
      at: formatStamp({ time: Date.now(), counter: n, node: 'test' }),
      target: { kind: 'agent', agentId },
      askedAt: finalAt - 30 * day,
      finalAt,
    });
    await owner.call('append', [asked(1, Date.now() + day)]);
    const told = () =>
      page.evaluate(
        async ([header, stored]) =>
          await (await fetch('/api/team', { headers: { [header]: localStorage.getItem(stored) ?? '' } })).text(),
        [PAGE_KEY.header, PAGE_KEY.stored] as const,
      );
    await expect.poll(told).not.toContain(agentId);
    expect(await folders()).toEqual([agentId]);
    await owner.call('append', [asked(2, Date.now() - day)]);
    await expect.poll(folders, { timeout: 30_000 }).toEqual([]);
    // What the page says of it is known after a reload too: to a relay that was away meanwhile.
    await mkdir(join(workspaces, (await readdir(workspaces))[0] ?? '', agentId));
    await page.reload();
    await expect.poll(folders, { timeout: 30_000 }).toEqual([]);
  });
});
