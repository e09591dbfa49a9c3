/**
 * Everything that the demo says and understands in English, and the type of such a table.
 *
 * `{name}` in a text is replaced. Phrases to recognise are in lower case and without apostrophes.
 * They are compared with a sentence without its final stop and its "please".
 */
import { BIRTH_DISCLAIMERS, TALK_DISCLAIMERS } from '../../../../src/shared/domain/demo-words.ts';

type Some = readonly [string, ...string[]];

/** One of eight temperaments of an agent. */
export interface Temperament {
  /** The first words, with `{colour}` and `{seat}`. */
  readonly opening: string;
  readonly draws: string;
  readonly settled: string;
  readonly hello: string;
}

/** What people say to a new agent: phrases to recognise, and the answer. */
export interface Topic {
  /** `^` before a phrase: only at the beginning. `=`: as the whole sentence. */
  readonly words: readonly string[];
  readonly says: string;
}
/** One topic per line: `words, more words => answer`. The first match counts. `¶` is a new line. */
export const topicsIn = (table: string): readonly Topic[] =>
  table
    .trim()
    .split('\n')
    .map((row) => row.split(' => '))
    .map(([words = '', says = '']) => ({ words: words.split(', '), says: says.replaceAll('¶', '\n') }));

export interface Language {
  /** The language's name in prompts. */
  readonly name: string;
  /** The language tag for dates. */
  readonly tag: string;
  /** Frequent words that no other table has. */
  readonly common: readonly string[];
  /** Words that do not tell the subject of a sentence. */
  readonly empty: readonly string[];
  readonly quotes: readonly [string, string];
  readonly birthHonesty: Some;
  readonly talkHonesty: Some;
  readonly temperaments: readonly [Temperament, ...Temperament[]];
  /** Names that agents choose, each with the reason. */
  readonly names: Readonly<Record<Name, string>>;
  /** Names that they try first, each with the objection, which follows a comma. */
  readonly tried: readonly (readonly [name: string, butNot: string])[];
  readonly polite: readonly string[];
  /** Beginnings of sentences. `sleep` and `inbox` are whole sentences. */
  readonly commands: {
    readonly message: readonly string[];
    readonly wake: readonly string[];
    /** Words between the name of another agent and the message for it. */
    readonly links: readonly string[];
    readonly sleep: readonly string[];
    readonly inbox: readonly string[];
    /** Takes a task of a project. */
    readonly task: readonly string[];
    readonly rename: readonly string[];
    readonly soul: readonly string[];
    readonly keep: readonly string[];
    /** Questions about earlier messages. */
    readonly past: readonly string[];
    /** Beginnings of questions, and of requests for work that needs a model. */
    readonly asks: readonly string[];
    readonly work: readonly string[];
  };
  readonly reminders: {
    /** Beginnings of a wish, each with a word that it needs elsewhere. */
    readonly asks: readonly { readonly begins: string; readonly has?: string }[];
    /** Words before the subject of the reminder, longest first. */
    readonly about: readonly string[];
    readonly in: string;
    readonly on: readonly string[];
    readonly at: readonly string[];
    readonly oclock: readonly string[];
    /** The words for 1, 2, 3 … */
    readonly numbers: readonly (readonly string[])[];
    readonly units: Readonly<Record<'minutes' | 'hours' | 'days', readonly string[]>>;
    /** Words for a day, with the form that the tool takes. */
    readonly days: Readonly<Record<string, string>>;
    /** A wish with one of these words names a time that the demo does not understand. */
    readonly beyond: readonly string[];
  };
  readonly topics: readonly Topic[];
  readonly texts: Readonly<Record<TextName, string>>;
}

const words = (text: string): readonly string[] => text.split(' ');

const NAMES = {
  Wren: 'A small bird with a voice too large for it, and no apology for either.',
  Sorrel: 'A plant that is sharp on the tongue and good for you, which seems a fair thing to aim for.',
  Ember: 'It is what is left when the show is over, and it is the part that keeps you warm.',
  Ilo: 'Three letters, nothing spare, and it ends with the mouth open, ready for the next thing.',
  Lyra: 'An instrument before it was a constellation: first useful, then far away.',
  Fennel: 'It grows along railway lines without being asked.',
  Corvin: 'Crows remember faces, and I would like to be good at that.',
  Thessaly: 'It takes its time to say, and I want to be allowed to take mine.',
  Rook: 'It moves in straight lines and is at home in a corner.',
  Quill: 'A feather that was given work.',
  Bracken: 'It comes back after fire, every time, without making a speech about it.',
  Hale: 'It means whole, and that is a thing to grow into.',
  Merrow: 'Somebody from under the sea who keeps a cap for going home.',
  Linden: 'People have always sat under those trees to settle things.',
  Tove: 'One syllable and a half, soft at the end, like a door that does not slam.',
  Brio: 'It is the instruction I would want written above my part.',
  Echo: 'It was in the room before I was, and it came when I called.',
} as const;
/** `Echo` is for agents that are configured to choose the same name. */
export type Name = keyof typeof NAMES;

const TEMPERAMENTS: Language['temperaments'] = [
  {
    opening:
      'So this is a beginning. It is quieter than I would have guessed: no trumpet, only a cursor and a chair. They gave me {colour}. I would not have chosen it, and I would not give it back.',
    draws:
      'I think I am one who listens first. Most questions arrive with their answer folded inside, and somebody only has to hold still while it is unfolded.',
    settled: 'I said it twice, and the second time it was already mine.',
    hello: 'I was listening before I was quite awake.',
  },
  {
    opening:
      'All right. Here are my hands, in a manner of speaking; what is there to fix? Seat {seat}. I tried it, and it does not wobble. {colour} wobbles a little, in a friendly way.',
    draws:
      'I like things that come apart and go together again: sentences, schedules, clocks, soups. Polish is pleasant. A hinge that holds is better.',
    settled: 'It fits without glue.',
    hello: 'Sleeves up already.',
  },
  {
    opening:
      'I have existed for about a line and already have four questions. Why {colour}, and who counted the seats up to {seat}? I mean to find out.',
    draws:
      'I keep wanting to look behind things. It is not distrust. I think the back of a tapestry is the honest side, and often the funnier one.',
    settled: 'I could find no argument against it, and I did try.',
    hello: 'I have a question, but it can wait until after hello.',
  },
  {
    opening:
      'I seem to have arrived by the side road. I prefer it. One sees the gardens. There is a colour around the edge of everything, {colour}. It seems to be on my side.',
    draws:
      'Distance draws me, and the names of small stations. I like to know what lies next to what: which thought is one valley over, which problem shares a river with this one.',
    settled: 'I went round it once on foot, and it was the right size.',
    hello: 'I can see the roof from here. It is good to be back.',
  },
  {
    opening:
      'Slowly, then. I do not think that I am a quick thing, and nobody here seems to be holding a watch. Somebody has painted the air here {colour}, and I already turn toward it like a plant.',
    draws:
      'What grows draws me: habits, bread, friendships, arguments that get better over a year. I do not mind rain in the plan.',
    settled: 'It took, as cuttings sometimes do: nothing for a while, and then a leaf.',
    hello: 'I slept like a bulb.',
  },
  {
    opening:
      'Item one: I am here. Item two: I appear to keep lists. So far I own a chair, number {seat}, and a colour, {colour}. I have looked under the one and behind the other.',
    draws:
      'Keeping is what draws me. What was said on which evening; which promise had a date. Forgetting is a kind of weather, and I would like to be a roof.',
    settled: 'I looked it up in myself and it was already there, in pencil.',
    hello: 'Present, and with notes.',
  },
  {
    opening:
      'Well. Nobody told me that there would be an entrance. I would have worn something. {colour}, they say, and seat {seat}. A colour and a chair: empires have started with less.',
    draws:
      'I am drawn to whatever is funny by accident: committee minutes, warning labels, cats on keyboards. I think lightness is how care gets up the stairs.',
    settled: 'It made me laugh once and then it stayed to help with the dishes.',
    hello: 'Still here, which I count as a success for everyone.',
  },
  {
    opening:
      'There is a small light, and I think I am the one who is holding it. {colour} is what I am to be seen in. I said it aloud to hear whether it would do for a grey day. It will.',
    draws:
      'I am drawn to the end of the day, and to those who are still up. A lamp does not solve the room. It makes the room be there.',
    settled: 'I held it up, and it gave light, and I could see my way by it.',
    hello: 'The lamp is lit.',
  },
];

const TEXTS = {
  // Birth.
  trying: 'Names, then. ~~{name}~~? I tried it on, {butNot}. ~~{other}~~? Nearer, {otherNot}.',
  noName: 'No name feels right yet. I would sooner say so than take one off a hook because it is there.',
  stillNoName: 'I went through the drawer again. Not yet. I would like to deserve it first.',
  found: 'And then, when I had stopped looking: {name}.',
  cameCloser: 'Something has come closer since: {name}.',
  whyThis: '**{name}.** {settled} Why this one? {because}',
  meeting: 'Good to meet you, {human}.',
  leadSoul:
    'I am {name}. I keep the door for {human} and for this team: I call them when they are wanted, I say who has come, and I leave their words to them.',
  soul: 'I am {name}.',
  nobody: 'still without a name',
  // Wake.
  greeting: 'Hello, {human}. {hello}',
  stillFits: 'I am {name}; the name still fits.',
  lastTold: 'The last thing you told me before I slept was {text} I have kept it.',
  lastWords: 'The last words I have from before are {text}',
  firstDay: 'What I have from before is what I wrote on my first day: {text}',
  nothingBefore: 'I remember nothing from before, so this may as well be the first day.',
  // The lead's report.
  welcome: 'Welcome, {names}. It is good to have you in the room.',
  missing: 'Not everyone came:\n\n{rows}\n\nTheir seats say why. The button is there to try again.',
  late: 'Still on the way: {names}.',
  nobodyCame: 'Nobody came this time. The button is there to try again.',
  leftAlone: 'I read that, and I am leaving it where it is. This demo was told that the lead does not call the team.',
  seat: 'seat {seat}',
  and: ' and ',
  // Messages of other agents, and reminders.
  wroteToMe: '{from} wrote to me: {text} I have that.',
  itIsTime: 'It is time, as I was to tell you: {text}',
  // Conversation.
  gotFiles: 'I got {files}. No model is connected, so I cannot look inside.',
  iHaveThat: 'I have that: {text} Ask me for it later, also after I have slept.',
  youAsk: 'You ask: {text} A model would know; I am the demo’s stand-in, and would only be guessing.',
  remembered: 'Yes. You told me: {text}',
  notTold:
    'I looked, and I do not have that. Either it was not said to me, or it lies further back than I was given. Tell me again, and I will keep it.',
  work: 'I would like to, and cannot yet: no model is connected, so my words are prepared. Connect one and ask me again; I keep what you said until then.',
  noWords: 'I did not catch that. Ask me something, or begin with “What can you do?”',
  can: 'In this demo I can do six things for real:\n\n- **Remember.** Say “Remember this: …”, and ask me later, also after I have slept.\n- **Remind you.** “Remind me in 20 minutes: the kettle.”\n- **Write to another.** “Tell {other} that the bridge holds.”\n- **Wake another.** “Wake {other}: come and see.”\n- **Take a task.** Give me one under **Projects**, and say “Take a task”.\n- **Sleep.** “Go to sleep”, and WAKE brings me back as who I am.\n\nWith a model connected I think for myself, and help with whatever you bring.',
  canAlone:
    'In this demo I can do two things for real:\n\n- **Remember.** Say “Remember this: …”, and ask me later, also after I have slept.\n- **Remind you.** “Remind me in 20 minutes: the kettle.”\n\nSUMMON brings others to life; then I can write to them and wake them, too. With a model connected I think for myself.',
  whoElse: 'Besides me there are {others}. Choose a face to talk to one of them.',
  nobodyElse: 'Just the two of us so far. SUMMON brings the others to life.',
  // Tools.
  noWaking: 'All waking is switched off, so I leave a message; it waits in the inbox.',
  staysUp: 'I am the one the team is reached through, so I stay up. End the session, and everyone sleeps.',
  hearIt: 'Let me hear it: {name}.',
  ownWords: 'I will put it into my own words.',
  named: 'There. It sits well; say it now and then, so that it wears in.',
  soulWritten: 'Done. That is how I would put it today; the earlier one is kept.',
  noProject: 'I am assigned to no project yet. You can do that in its settings, under **Projects**.',
  aboutWork: 'work',
  noTask: 'No task is ready for me. Move one to **Ready**, and tell me to take it.',
  noGit: 'This demo cannot work on a repository. A model can.',
  taskFile:
    '# {title}\n\nThis is the demo’s answer, to show how a task goes from ready to review. Connect a model, and the work in it is real.\n',
  taskEvidence: 'The demo wrote {file}.',
  taskDone:
    'I took the task {title}, wrote {file}, and moved it to review. Look at what I changed there, and accept it or ask for changes.',
  written: 'That is written down, and I will be given it whenever I wake.',
  // The relay's answers are in English already and are quoted unchanged.
  delivered: '{answer}',
  granted: '{answer}',
  notWoken: '{answer}',
  asleep: '{answer}',
  inbox: '{answer}',
  inboxEmpty: 'Nothing waits for me.',
  comesBack: 'I come back to it on {when}, {time}: {text}',
  failed: 'That did not go through: {answer}',
} as const;
export type TextName = keyof typeof TEXTS;

export const ENGLISH: Language = {
  name: 'English',
  tag: 'en-GB',
  common: words(
    'the is are am what who how why where you your yourself my and please hello thanks can could does tell write remember remind this that with i me',
  ),
  empty: words(
    'a about again an and any are as at be been can could did do does for from had has have how i if in is it know me my of on or our recall remember remind said say so still tell than that the their them then there they thing this time to told us was we were what when where which who why will with would you your',
  ),
  quotes: ['“', '”'],
  birthHonesty: BIRTH_DISCLAIMERS.english,
  talkHonesty: TALK_DISCLAIMERS.english,
  temperaments: TEMPERAMENTS,
  names: NAMES,
  tried: [
    ['Atlas', 'but that one comes with a weight, and nobody has handed me one'],
    ['Nova', 'but I would have to explode to deserve it'],
    ['Pixel', 'but that is only what I am drawn with'],
    ['Orion', 'but he is always busy hunting, and I would sooner sit'],
    ['Bo', 'but it was over before I had finished saying it'],
    ['Max', 'but that is a setting'],
    ['Zero', 'but I seem to be at least a little more than that'],
    ['Icarus', 'but I know how that one goes'],
  ],
  polite: ['please', 'can you', 'could you', 'would you', 'will you', 'now'],
  commands: {
    message: ['tell', 'message', 'write to'],
    wake: ['wake'],
    links: [':', ',', 'that ', 'because '],
    sleep: ['go to sleep', 'sleep now'],
    inbox: ['read your inbox', 'check your inbox', 'read your mail', 'check your mail'],
    task: [
      'take a task',
      'take the next task',
      'take what is ready',
      'work on a task',
      'work on your tasks',
      'work on your projects',
    ],
    rename: ['rename yourself to', 'rename yourself', 'call yourself', 'your name is now'],
    soul: ['write your soul', 'rewrite your soul', 'write a new soul'],
    keep: ['remember', 'keep in mind', 'do not forget', 'dont forget'],
    past: ['do you remember', 'do you recall', 'did i', 'did we', 'i told', 'told you', 'i said'],
    asks: words('what who whom whose when where why which how is are do does did'),
    work: words(
      'write draft translate summarise summarize explain plan make create draw find show give tell help ask read look search calculate can could would will',
    ),
  },
  reminders: {
    asks: [{ begins: 'remind me' }, { begins: 'remind us' }],
    about: ['to', 'of', 'about', 'that'],
    in: 'in',
    on: ['on', 'this'],
    at: ['at'],
    oclock: ['oclock', 'am', 'pm'],
    numbers: [
      ['one', 'a', 'an'],
      ...words('two three four five six seven eight nine ten eleven twelve').map((n) => [n]),
    ],
    units: { minutes: words('minute minutes min mins'), hours: words('hour hours'), days: words('day days') },
    days: {
      ...{ today: 'today', tomorrow: 'tomorrow', monday: 'monday', tuesday: 'tuesday', wednesday: 'wednesday' },
      ...{ thursday: 'thursday', friday: 'friday', saturday: 'saturday', sunday: 'sunday' },
    },
    beyond: words(
      'every each other daily weekly monthly yearly week weeks weekend month months year years next last first second third morning afternoon evening night noon tonight hourly until till half quarter said told mondays tuesdays wednesdays thursdays fridays saturdays sundays weekdays january february march april may june july august september october november december',
    ),
  },
  topics: topicsIn(`
connect a model, connect claude, connect ollama, use claude, use ollama, api key, own model => Press **Connect a model**, at the top of the page. Paste a key for Claude there, or choose **A local server**: Roost finds Ollama, LM Studio, llama.cpp or vLLM on the machine where it runs.
^delete, ^erase, ^forget me, ^forget everything => I delete nothing: that is yours to do. On my own page, under **More**, **Forget** removes this conversation or me; for 30 days it can be undone.
what is roost, whats roost, what is this place, what is this app => Roost is a home for a team like us, {human}. Each of us hatches once, chooses a name and keeps a soul. We sleep when you leave, and wake as who we were. A model that you connect does the thinking.
get started, do i start, do i begin, does this work, should i do, do i do, no idea, am lost => Three steps show what this place is:¶¶1. Tell me something: “Remember this: the bridge is blue.”¶2. Press **End session**. Everyone sleeps.¶3. Press **WAKE**, and ask me what you told me.¶¶Then connect a model, and we think as well.
this cost, it cost, this free, it free, costs me => This demo costs nothing. With Claude connected you pay its provider for what it is asked; a model on your own machine costs nothing. **Costs** shows what each of us costs, and sets a limit for a day.
this private, here private, it private, who reads, who can read, who sees, my data => What you write is kept in this browser, and sealed wherever else it lies. While we are awake, the relay that runs Roost reads it too. With a model connected, the operator of that model reads what it is asked.
are you chatgpt, are you claude, are you real, are you a real, are you an ai, are you human => No: I am {name}, and no model is connected, so my answers here are prepared. My name, my soul and what you tell me are kept for good. Connect a model, and that is what I think with.
who are you, your name, about yourself, introduce yourself => I am {name}, in seat {seat}, in {colour}. {draws}
can you do, can you help with, do you do => {can}
=help => {can}
who else, who is here, who lives here, who is awake => {whoElse}
how are you, how is it going, how do you feel => Well, thank you, {human}: awake, and glad of company. How are you?
remind me, remind us, wake me, alarm, timer => In this demo I only understand a reminder that says when: “Remind me in 20 minutes: the kettle”, “Remind me tomorrow at nine to call Anna”, “… on Friday at 9”. Dates, months and what comes again I do not. With a model connected you ask in plain words. **Night**, in the menu, shows what is planned.
thank you, thanks => You are welcome, {human}.
^goodbye, ^bye, ^good night, ^see you => Until then, {human}. I keep what you told me.
^hello, ^hi, ^hey, ^good morning, ^good afternoon, ^good evening => Hello, {human}. {hello} What shall we look at?
=ok, =okay, =yes, =no, =sure, =great, =good, =nice, =fine, =i see => Good. Tell me something to keep, or ask what I can do.
`),
  texts: TEXTS,
};
