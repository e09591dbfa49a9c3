/** What an address says of a server, and a text of a name. */
import { describe, expect, it } from 'vitest';
import { usesNoTools } from '../../../../server/agents/minds/shapes.ts';
import { waysTo } from '../../../../server/agents/models/addresses.ts';
import { nameInWords } from '../../../../server/agents/session/arrival.ts';

const shown = (address: string) => waysTo(address).map((way) => `${way.protocol} ${way.address}`);

describe('An address', () => {
  it.each<[string, readonly string[]]>([
    [
      'http://127.0.0.1:11434',
      ['messages http://127.0.0.1:11434', 'chat http://127.0.0.1:11434/v1', 'chat http://127.0.0.1:11434'],
    ],
    ['http://127.0.0.1:11434/v1/', ['messages http://127.0.0.1:11434', 'chat http://127.0.0.1:11434/v1']],
    ['http://127.0.0.1:11434/v1/messages', ['messages http://127.0.0.1:11434']],
    ['http://127.0.0.1:1234/v1/chat/completions', ['chat http://127.0.0.1:1234/v1']],
    ['https://host.example/v1/responses', ['responses https://host.example/v1']],
    ['https://host.example/v1/models', ['messages https://host.example', 'chat https://host.example/v1']],
    ['https://host.example/api/v1', ['messages https://host.example/api', 'chat https://host.example/api/v1']],
    [
      'https://host.example/api/paas/v4',
      ['messages https://host.example/api/paas/v4', 'chat https://host.example/api/paas/v4'],
    ],
    ['https://host.example/v1beta/openai/', ['chat https://host.example/v1beta/openai']],
    ['https://host.example/v1beta', ['google https://host.example/v1beta', 'chat https://host.example/v1beta/openai']],
    ['https://api.openai.com', ['responses https://api.openai.com/v1', 'chat https://api.openai.com/v1']],
    ['https://api.groq.com', ['chat https://api.groq.com/openai/v1']],
    ['https://openrouter.ai/api/v1', ['chat https://openrouter.ai/api/v1', 'messages https://openrouter.ai/api']],
    [
      'https://generativelanguage.googleapis.com/v1beta/openai/',
      ['chat https://generativelanguage.googleapis.com/v1beta/openai'],
    ],
    [
      'https://generativelanguage.googleapis.com',
      [
        'google https://generativelanguage.googleapis.com/v1beta',
        'chat https://generativelanguage.googleapis.com/v1beta/openai',
      ],
    ],
    ['https://api.anthropic.com/v1/messages?beta=true', ['messages https://api.anthropic.com']],
  ])('%s leads to the place that it names', (address, ways) => {
    expect(shown(address)).toEqual(ways);
  });
});

describe('A refusal of tools', () => {
  it.each([
    'registry.ollama.ai/library/gemma3:latest does not support tools',
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    'tools param requires --jinja flag',
    'No endpoints found that support tool use. Try disabling "say_present".',
    '`tool calling` is not supported with this model',
    'Function calling is not enabled for models/gemma-3-27b-it',
    'This model does not support function calling',
  ])('recognises a refusal of tools: %s', (said) => {
    expect(usesNoTools(said)).toBe(true);
  });
  it.each([
    'tools.3.custom.input_schema: JSON schema is invalid. anyOf is not supported at the top level',
    "Invalid schema for function 'write': 'format' is not supported in tools",
    'The model `x` does not exist',
    'image input is not supported',
  ])('takes no other refusal for one of tools: %s', (said) => {
    expect(usesNoTools(said)).toBe(false);
  });
});

describe('A name in words', () => {
  it.each<[string, string | null]>([
    ['Wren', 'Wren'],
    ['**Wren**', 'Wren'],
    ['"Wren."', 'Wren'],
    ['My name is Wren.', 'Wren'],
    ['Name: Wren', 'Wren'],
    ['I am Wren.', 'Wren'],
    ['<think>Which one? Ada? No.</think>\n\nWren', 'Wren'],
    ['Mein Name ist Zaunkönig', 'Zaunkönig'],
    ['小鸟', '小鸟'],
    ['I have thought about this for long, and there are many names that I like.', null],
    ['', null],
    ['...', null],
  ])("reads a model's name out of %j", (text, name) => {
    expect(nameInWords(text, 'Noa')).toBe(name);
  });
});
