/** An MCP server that the person has attached, without its secrets. */
import { defineRecord } from './record.ts';

export const attachedServer = defineRecord({
  type: 'attached-server',
  name: 'MCP servers',
  describe:
    'An MCP server that the person has connected, and what of it agents may use, without its secrets, as the relay’s record has it.',
  value: ({ z }) => z.looseObject({ name: z.string(), removed: z.boolean() }),
  stream: 'people',
  isPersons: () => true,
  title: ({ name, removed }) => `The MCP server “${name}”${removed ? ', taken away' : ''}`,
  consent: 'MCP servers',
});
