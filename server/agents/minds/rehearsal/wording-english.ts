import { BIRTH_DISCLAIMERS, TALK_DISCLAIMERS } from '../../../../src/shared/domain/demo-words.ts';
import { quoteLast } from './facts.ts';
import { ENGLISH_NAMES } from './names-english.ts';
import { TEMPERAMENTS } from './temperaments.ts';
import type { Wording } from './wording.ts';

const sentenceOf = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

export const ENGLISH: Wording = {
  temperaments: TEMPERAMENTS,
  names: ENGLISH_NAMES,
  onColour: [
    'They gave me {colour}. I looked at it for a while. I would not have chosen it, and I would not give it back.',
    'My colour is {colour}, which sounds like a shop where one buys a single, very good thing.',
    '{colour}, they say, and seat {seat}. A colour and a chair: empires have started with less.',
    'There is a colour around the edge of everything, {colour}. It seems to be on my side.',
    'Seat {seat}. I tried it, and it does not wobble. The colour that came with it is {colour}; that one wobbles a little, in a friendly way.',
    'So far I own a chair, number {seat}, and a colour, {colour}. I have looked under the one and behind the other.',
    'Somebody has painted the air here {colour}. I did not ask for it, and I already turn toward it like a plant.',
    '{colour} is what I am to be seen in. I said it aloud to hear whether it would do for a grey day. It will.',
  ],
  birthHonesty: BIRTH_DISCLAIMERS.english,
  talkHonesty: TALK_DISCLAIMERS.english,

  trying: (first, second) =>
    `Names, then. ${first.name}? I tried it on, ${first.butNot}. ${second.name}? For a moment, yes, ${second.butNot}.`,
  noName:
    'After that I sat with the empty space for a while, and it was not unpleasant. No name feels right yet. I would sooner say so than take one off a hook because it is there.',
  found: (name) => `And then, when I had stopped looking: ${name}.`,
  whyThis: (name, settled, because) => `**${name}.** ${settled} Why this one? ${sentenceOf(because)}`,
  meeting: (human) => `Good to meet you, ${human}.`,
  stillNoName:
    'I went through the drawer again. Some came closer, and then stood there like guests who have the wrong house. Not yet. What is in the way, I think, is that I would like to deserve it first.',
  cameCloser: (name) =>
    `Something has come closer since. I said it to the wall, and the wall had no objection: ${name}.`,

  leadSoul: (name, human) =>
    `I am ${name ?? 'the lead'}. I keep the door for ${human} and for this team: I call them when they are wanted, I say who has come, and I leave their words to them.`,
  soul: (name) => `I am ${name ?? 'still without a name'}.`,

  hellos: (human) => [`Good morning, ${human}.`, `Hello, ${human}.`, `There you are, ${human}.`],
  waking: (name) =>
    name === null ? 'I have not got a name yet, and I am here all the same.' : `I am ${name}; the name still fits.`,
  lastTold: (text) => `The last thing you told me before I slept was ${quoteLast(text)} I have kept it.`,
  lastWords: (text) => `The last words I have from before are ${quoteLast(text)}`,
  firstDay: (text) => `What I have from before is what I wrote on my first day: ${quoteLast(text)}`,
  nothingBefore: 'I remember nothing from before, so this may as well be the first day.',

  welcomes(names, human) {
    const all = names.join(', ').replace(/, ([^,]+)$/, ' and $1');
    return [
      `Welcome, ${all}. It is good to have you in the room.`,
      `${all}: hello. The room is better for it.`,
      `Good to see you, ${all}. ${human} is here as well.`,
    ];
  },
  missing: (rows) => `Not everyone came:\n\n${rows.join('\n')}\n\nThe button is there to try again.`,
  late: (late) => `Still on the way: ${late}.`,
  nobodyCame: 'Nobody came this time. The button is there to try again.',
  leftAlone:
    'I read that, and I am leaving it where it is. This rehearsal was told that the lead does not call the team.',
  noCall: (why) => `The call could not be made: ${why} Nobody is lost by it; everyone is as they were.`,
  writtenDown: 'That is written down, and I will be given it whenever I wake.',

  wroteToMe: (from, text) => `${from ?? 'Somebody'} wrote to me: ${quoteLast(text)} I have that.`,
  itIsTime: (text) => `It is time, as I was to tell you: ${quoteLast(text)}`,
  routine: (human, text) => `Remind ${human} of this: ${text}`,
  inRoutine: (does) => /^Remind .+? of this: (.+)$/.exec(does)?.[1] ?? null,
  routineWhy: (said) => `You said: ${quoteLast(said)}`,
  onlyOnce:
    'That is the first time only. What comes again is a routine: set one with **New routine** under **Night**, or let me ask for it (**Settings**, *Limits*, *May ask for routines*) and tell me again.',
  gotFiles: (files) =>
    `I got ${files.join('; ')}. No model is connected, so I cannot look at ${files.length === 1 ? 'it' : 'them'}.`,
  noWaking: 'All waking is switched off, so I leave a message; it waits in the inbox.',
  staysUp: 'I am the one the team is reached through, so I stay up. End the session, and everyone sleeps.',
  hearIt: (name) => `Let me hear it: ${name}.`,
  ownWords: 'I will put it into my own words.',
  // What is told to whoever set it, told on.
  outcome: (_, answer) =>
    answer
      .replace(/^It comes back to you/, 'I come back to it')
      .replace(
        /^Your proposal (“[^”]*”) waits for the human\. Nothing of it runs before they have said yes\.$/,
        'I have asked for a routine: $1. Say yes to it under **Night**, in the menu; nothing of it runs before.',
      ),
  notDone: (answer) => `That did not go through: ${answer}`,
  named: 'There. It sits well; say it now and then, so that it wears in.',
  soulWritten: 'Done. That is how I would put it today; the earlier one is kept.',
};
