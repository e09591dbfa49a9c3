import { describe, expect, it } from 'vitest';
import { attachmentSchema, type Attachment } from '../../../../src/shared/protocol/mcp.ts';
import { needsOf, withNeeds, type Runner } from '../../../../src/shared/protocol/runners.ts';

const NPX: Runner = {
  command: 'npx',
  hosts: ['registry.example'],
  reads: ['/opt/node'],
  env: { npm_config_registry: 'https://registry.example/' },
};
const program = (command: string, args: readonly string[], box?: object): Attachment =>
  attachmentSchema.parse({ kind: 'program', command, args, ...(box ? { box } : {}) });

describe('a program that another one fetches', () => {
  it('needs the host of the registry, and the folders that its arguments name', () => {
    const notes = program('npx', [
      '-y',
      '@a/server-files',
      '/home/me/notes',
      '/home/me/more',
      '--db=/srv/x/data.db',
      '/',
    ]);
    const needs = needsOf(notes, [NPX], true);
    expect(needs).toMatchObject({
      hosts: ['registry.example'],
      folders: ['/home/me/notes', '/home/me/more', '/srv/x'],
    });
    expect(withNeeds(notes, needs)).toMatchObject({
      env: NPX.env,
      box: {
        folder: '/home/me/notes',
        reads: ['/home/me/more', '/srv/x', '/opt/node'],
        network: ['registry.example'],
      },
    });
  });

  it.each(['npx', 'bunx', 'uvx'] as const)(
    'recognises %s in any folder as a program that fetches others',
    (command) => {
      const runner: Runner = { ...NPX, command, hosts: [`${command}.example`] };
      for (const at of [command, `/usr/local/bin/${command}`])
        expect(needsOf(program(at, ['server-files', '/home/me/notes']), [runner], true)).toMatchObject({
          hosts: [`${command}.example`],
          folders: ['/home/me/notes'],
        });
    },
  );

  it('keeps what the person has given it', () => {
    const box = { folder: '/srv/own', reads: [], network: ['api.example'] };
    const given = withNeeds(program('/usr/bin/npx', ['/data'], box), needsOf(program('npx', ['/data']), [NPX], true));
    expect(given).toMatchObject({
      box: { folder: '/srv/own', reads: ['/data', '/opt/node'], network: ['api.example', 'registry.example'] },
    });
  });

  it('offers a fetched program no forbidden folder, and knows no needs of an unknown one', () => {
    expect(needsOf(program('npx', ['/home/me']), [NPX], false)).toMatchObject({ folders: [], reads: [] });
    expect(needsOf(program('node', ['/home/me/x.js']), [NPX], true)).toBeNull();
    expect(needsOf(program('uvx', ['x']), [{ ...NPX, command: 'uvx', hosts: [], reads: [] }], true)).toBeNull();
  });
});
