import { describe, expect, it } from 'vitest';
import {
  BIRTH_DISCLAIMERS,
  isDemoSoul,
  TALK_DISCLAIMERS,
  withoutDisclaimers,
} from '../../../../src/shared/domain/demo-words.ts';
import { ENGLISH } from '../../../../server/agents/minds/rehearsal/english.ts';
import { GERMAN } from '../../../../server/agents/minds/rehearsal/german.ts';
import { renderTemplate } from '../../../../src/shared/domain/prompts.ts';
import { writeForLead } from '../../../../src/shared/domain/wake-payload.ts';

const ALL = [BIRTH_DISCLAIMERS, TALK_DISCLAIMERS].flatMap(({ english, german }) => [...english, ...german]);

describe('What a demo says of itself', () => {
  it.each(ALL)('leaves a text without a trace: %s', (sentence) => {
    expect(withoutDisclaimers(`I am Wren. ${sentence} Good to meet you.`)).toBe('I am Wren. Good to meet you.');
    expect(withoutDisclaimers(`I am Wren.\n\n${sentence}\n\nGood to meet you.`)).toBe(
      'I am Wren.\n\nGood to meet you.',
    );
    expect(withoutDisclaimers(sentence)).toBe('');
  });

  it('leaves out the demo’s disclaimer and nothing else', () => {
    const text = '  This is a rehearsal, I said.  \n\n\nNo model is thinking here.\n';
    expect(withoutDisclaimers(text)).toBe(text);
  });

  it('tells a soul of the demo from one that was written anew', () => {
    expect(isDemoSoul(`I am Wren. ${BIRTH_DISCLAIMERS.german[1]}`)).toBe(true);
    expect(isDemoSoul('I am Wren, and I think.')).toBe(false);
  });

  it.each([ENGLISH, GERMAN])('tells the soul that the demo writes for the lead', ({ texts }) => {
    expect(isDemoSoul(texts.leadSoul)).toBe(true);
  });

  it('keeps the demo’s disclaimer out of souls, transcripts and what the lead reads', () => {
    const [soul, said] = [`I am Wren. ${BIRTH_DISCLAIMERS.english[0]}`, `Noted. ${TALK_DISCLAIMERS.english[0]}`];
    expect(renderTemplate('{{soul}}|{{transcript}}', 'wake', { soul, transcript: said })).toBe('> I am Wren.|Noted.');
    const agent = {
      id: 'a',
      name: 'Wren',
      soul,
      transcript: said,
      position: 0 as const,
      color: '#000000',
      colorName: 'black',
    };
    expect(writeForLead({ kind: 'wake', agents: [agent] }, 99)).not.toContain('rehearsal');
  });
});
