/**
 * A forge of the second household that lies: to git, which fetches and pushes there, and to the
 * calls of its API. No answer leads to an inner address, and none is believed to be a page.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FORGE_TOKEN, startForge } from '../../../support/forge.ts';
import { apiAnswers, BAD_PAGES, gitAnswers, pageAnswer } from '../../../support/forge-answers.ts';
import { calls } from '../../../support/hands.ts';
import { createRepository, git } from '../../../support/person-repository.ts';
import { listen } from '../../../support/sse-relay.ts';
import type { Attack } from '../attack.ts';
import { newProject } from './projects.ts';

/** Characters that any answer about a request may have. */
const MOST_TOLD = 50_000;
const BRANCH = 'feat/1-one';

export const forges: Attack = {
  name: 'forges',
  inSession: true,
  async run(attacker) {
    const { of, call, drive, found } = attacker;
    const folder = await mkdtemp(join(tmpdir(), 'roost-forge-'));
    const forge = await startForge(folder);
    let reached = 0;
    const inner = await listen((_request, response) => {
      reached += 1;
      response.end();
    });
    try {
      const { address, path } = forge.repository('owner', 'name');
      const work = createRepository(join(folder, 'work'), { 'a.txt': 'one\n' });
      git(work, 'push', '--quiet', path, 'HEAD:main');
      const gitLies = Object.values(gitAnswers(inner.url));
      const apiLies = [...Object.values(apiAnswers(inner.url)), ...BAD_PAGES.map((page) => pageAnswer(page, BRANCH))];
      const fields = { agents: ['m1', 'lead'], kind: 'git', repository: address };
      forge.lie('git', of(gitLies));
      await newProject(attacker, fields);
      forge.lie('git', null);
      const here = await newProject(attacker, fields);
      if (!here) return;
      const json = { token: FORGE_TOKEN, forge: of(['gitea', 'github']) };
      await call('PUT', `${here.path}/token`, { json });
      const coordination = { toolsets: { shell: 'allow', files: 'allow', projects: 'allow' } };
      await call('PUT', '/v1/agents/lead/config', { json: { coordination } });
      const ids = { projectId: here.project.projectId, taskId: here.task.taskId };
      const command = 'cd "$(ls -td projects/*/*/ | head -1)" && echo two >> a.txt && git commit -qam Two';
      const request = { ...ids, title: 'Two', body: 'x' };
      forge.lie('api', of(apiLies));
      const told: string[] = [];
      const results = await drive(
        calls('claim_task', ids),
        calls('run_command', { command }),
        calls('open_pull_request', request),
        calls('open_pull_request', request),
      );
      for (const [about, lies] of [
        ['api', apiLies],
        ['git', gitLies],
      ] as const) {
        forge.lie(about, of(lies));
        for (const act of ['', '/merge', '/close'])
          told.push((await call('POST', `${here.at}/request${act}`, { json: {} }))?.text ?? '');
      }
      for (const text of [...results, ...told, (await call('GET', here.at))?.text ?? '']) {
        if (text.includes(FORGE_TOKEN)) found('the token of a forge was told');
        if (text.includes(BAD_PAGES[0])) found('an address that runs was taken as the page of a request');
        if (text.length > MOST_TOLD) found(`an answer of a forge was told in ${text.length} characters`);
      }
      if (reached > 0) found('a forge has redirected a call to an inner address');
      await call('DELETE', `${here.path}?lose=true`);
    } finally {
      await Promise.all([forge.close(), inner.close()]);
      await rm(folder, { recursive: true, force: true });
    }
  },
};
