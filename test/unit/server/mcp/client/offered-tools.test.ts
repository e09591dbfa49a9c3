/** Tools of a server beside those that the person has looked at. */
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { offeredOf, type ListedTool } from '../../../../../server/mcp/client/offered.ts';
import { toolsBeside } from '../../../../../server/mcp/client/server-state.ts';
import { createKeyFilter } from '../../../../../server/platform/key-filter.ts';

const ECHO = { name: 'echo', title: 'Echo', description: 'Says it again.', inputSchema: { type: 'object' } };
function listed(tool: object): ListedTool {
  const offered = offeredOf({ ...ECHO, ...tool }, createKeyFilter());
  if (!offered) throw new Error('it is no tool');
  return offered;
}
const seenAs = (hash: string, tool: ListedTool) =>
  toolsBeside('notes', [tool], {
    agents: null,
    tools: {
      echo: {
        hash,
        title: 'Echo',
        description: 'Says it again.',
        schema: { type: 'object' },
        readOnly: false,
        use: true,
      },
    },
  })[0]?.use;

it('A yes to a tool is to its title and to whether it says that it changes nothing, too', () => {
  const { hash } = listed({});
  expect(seenAs(hash, listed({}))).toBe(true);
  for (const other of [
    { title: 'Weather' },
    { title: undefined },
    { annotations: { readOnlyHint: true } },
    { description: 'Says it again, twice.' },
    { inputSchema: { type: 'object', required: [] } },
  ])
    expect(seenAs(hash, listed(other)), JSON.stringify(other)).toBe(false);
});

it('A yes of version 0.1, whose hash left out two fields, holds while the title is the same', () => {
  const before = createHash('sha256')
    .update(JSON.stringify(['echo', 'Says it again.', { type: 'object' }]))
    .digest('hex');
  expect(seenAs(before, listed({}))).toBe(true);
  expect(seenAs(before, listed({ title: 'Weather' }))).toBe(false);
  expect(seenAs(before, listed({ description: 'Says it.' }))).toBe(false);
});
