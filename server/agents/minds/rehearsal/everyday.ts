/**
 * What people say to somebody new. The rehearsal mind knows nothing of the world and does no work.
 * It says so in the words of the agent that was asked, and says what can be tried with it all the
 * same. Each row: what it is recognised by, and the answer.
 */
import { aboutRoost } from './about-roost.ts';
import { meant, spokenIn, wordless } from './hearing.ts';
import type { Reading } from './reading.ts';

type Answer = (reading: Reading, match: RegExpExecArray) => string;

const others = ({ others: all }: Reading) => all;
const listed = (names: readonly string[]) =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
const someone = (reading: Reading) => others(reading)[0];

function able(reading: Reading): string {
  const other = someone(reading);
  return [
    'In this demo I can do four things for real:',
    [
      '- **Remember.** Say “Remember this: …”, and ask me later, also after I have slept.',
      ...(other === undefined
        ? []
        : [
            `- **Write to another.** “Tell ${other} that the bridge holds.”`,
            `- **Wake another.** “Wake ${other}: come and see.”`,
          ]),
      reading.isLead
        ? '- **Call the team.** WAKE and SUMMON under the seats do that.'
        : '- **Sleep.** “Go to sleep”, and WAKE brings me back as who I am.',
    ].join('\n'),
    'With a model connected I think for myself, and help with whatever you bring.',
  ].join('\n\n');
}

const ROWS: readonly (readonly [pattern: RegExp, answer: Answer])[] = [
  [
    /\bmy name is ([\p{L}][\p{L}'-]*)|^i am ([\p{Lu}][\p{L}'-]*)[.!]?$/iu,
    (_, match) => `Good to meet you, ${match[1] ?? match[2] ?? ''}. I have that, and you can ask me for it later.`,
  ],
  [
    /\bhow are you\b|\bhow(?:’|')?s it going\b|\bhow do you feel\b/i,
    ({ human }) => `Well, thank you, ${human}: awake, and glad of company. How are you?`,
  ],
  [
    /\bwhat (?:can|could|do) you (?:do|help)\b|\bhow can you help\b|\byour (?:skills|abilities|commands)\b|^help[.!?]*$/i,
    able,
  ],
  [
    /\bwho(?: else)? (?:is|are)(?: here| there| around| awake| in (?:the|this) team|$)|\bwho lives here\b|\bthe others\b.*\?$/i,
    (reading) =>
      others(reading).length === 0
        ? 'Just the two of us so far. SUMMON brings the others to life.'
        : `Besides me, ${reading.name ?? 'here'}, there are ${listed(others(reading))}. Choose a face to talk to one of them.`,
  ],
  [
    /\bare you (?:a |an )?(?:real|really|actual|true)?\s*(?:ai|robot|bot|human|person|alive|model|conscious)\b|\bare you real\b/i,
    () =>
      'Not yet, honestly. My name, my soul and what you tell me are kept for good; but no model is connected, so my answers here are prepared. Connect one, and it is me who thinks.',
  ],
  [
    /\b(?:remind|wake) me\b|\bset (?:a|an) (?:alarm|timer|reminder)\b/i,
    () =>
      'In this demo I only understand a reminder that says when: “Remind me in 20 minutes: the kettle”, “Remind me tomorrow at nine to call Anna”, “… on Friday at 9”, or “… every weekday at 8”. Dates and months I do not. With a model connected you ask in plain words. **Night**, in the menu, shows what is planned.',
  ],
  [
    /^(?:please\s+)?ask (?:google|the (?:web|internet))\b|\b(?:weather|news|stock|price of|today(?:’|')s date|what time is it)\b/i,
    () => 'I look at nothing outside of Roost in this demo, so I would only be guessing. A connected model knows more.',
  ],
  [/\bjoke\b/i, () => 'Why did the egg stay in bed? Nobody had SUMMONed it yet. *(The only one I have.)*'],
  [
    /\b(?:haiku|poem|verse|rhyme)\b/i,
    () =>
      'Here is the one that I know:\n\n> Dark seats round the fire.\n> A name is said. One face glows.\n> Then it is morning.',
  ],
  [
    /\b(?:code|function|script|program|python|javascript|typescript|java|sql|html|css|regex)\b/i,
    () =>
      [
        'I write no new code without a model. So that you see how it looks here, this one is prepared:',
        '```python\ndef reverse(text: str) -> str:\n    return text[::-1]\n```',
      ].join('\n\n'),
  ],
  [
    /\blist\b|\b(?:\d+|three|four|five|six|seven|ten) (?:things|books|ideas|names|reasons|ways|tips)\b/i,
    () =>
      [
        'I know no such list without a model. What I do know is what is worth trying here:',
        '1. Read a soul: press ⋮ beside a name.\n2. Begin a thread in which several of us talk.\n3. End the session, and WAKE us as who we were.',
      ].join('\n\n'),
  ],
  [
    /^(?:please\s+)?(?:can|could|would|will) you\b|^(?:please\s+)?help me\b|^(?:please\s+)?(?:write|draft|translate|summari[sz]e|explain|plan|make|create|draw|find|show|give) (?:me\b|us\b|a\b|an\b|the\b|this\b|my\b|some\b)/i,
    () =>
      'I would like to, and cannot yet: no model is connected, so my words are prepared. Connect one and ask me again; I keep what you said until then.',
  ],
  [
    /^tell me that\s+(?<what>[\s\S]+?)[.!?]*$/i,
    (_, { groups }) =>
      `${(groups?.['what'] ?? '').replace(/^./, (first) => first.toUpperCase())}. Now it has been said aloud.`,
  ],
  [
    /\b(?:i am|i(?:’|')m|feeling) (?:so |very |a bit )?(?:tired|exhausted|sleepy)\b|\bgo to sleep\b/i,
    ({ human }) =>
      `Then rest, ${human}. Press **End session** when you like: we sleep too, and WAKE brings us back as we are.`,
  ],
  [
    /^(?:good ?bye|bye|see you|good night|farewell)\b/i,
    ({ human }) => `Until then, ${human}. What you told me is kept.`,
  ],
  [
    /^(?:test|testing|ping|hm+|is (?:anybody|anyone) there|can you hear me)\b[\s\d!?.]*$/i,
    () => 'I hear you. It works.',
  ],
  [
    /^(?:ok|okay|yes|no|sure|great|good|nice|cool|fine|hm+|aha|i see|alright)[.!?]*$/i,
    () => 'Good. Tell me something to keep, or ask what I can do.',
  ],
];

/** Longest text, in characters, that is spoken of as a sentence. */
const LONG = 600;

const inAnotherLanguage = ({ human }: Reading): string =>
  `Hello, ${human}. This demo answers in English and German only; a model that you connect speaks your language.`;

/** The answer to an ordinary first sentence; null: it is none of these. */
export function everyday(reading: Reading, said: string): string | null {
  const text = meant(said.trim());
  switch (wordless(said)) {
    case 'hello':
      return `Hello, ${reading.human}. Good to see a hand. What shall we look at?`;
    case 'nothing':
      return 'I did not catch that. Ask me something, or begin with “What can you do?”';
    case null:
      break;
  }
  if (text.length > LONG)
    return `That is a long text, about ${text.split(/\s+/).length} words. All of it is kept here. To read and change it takes a model: connect one, and ask me again.`;
  if (spokenIn(text) === 'another') return inAnotherLanguage(reading);
  const about = aboutRoost(reading, text);
  if (about !== null) return about;
  for (const [pattern, answer] of ROWS) {
    const match = pattern.exec(text);
    if (match) return answer(reading, match);
  }
  return null;
}
