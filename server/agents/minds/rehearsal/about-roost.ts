/**
 * What people ask of Roost itself: that a stand-in knows, and answers for real. Each row: what it
 * is recognised by, and the answer.
 */
import type { Reading } from './reading.ts';

type Answer = (reading: Reading) => string;

/** Of what may be told as well as asked: who pays for a flat asks nothing of Roost. */
const ASKS = /\?\s*$|^(?:so\s+|and\s+)?(?:how|what|who|is|are|do|does|can|will|must|may)\b/i;

const START = [
  'Three steps show what this place is:',
  '1. Tell me something: “Remember this: the bridge is blue.”\n2. Press **End session**. Everyone sleeps.\n3. Press **WAKE**, and ask me what you told me.',
  'Then connect a model, and we think as well.',
].join('\n\n');

const ASKED: readonly (readonly [pattern: RegExp, answer: Answer])[] = [
  [
    /\b(?:cost|costs|price|pay|free of charge|expensive|subscription)\b|\bis (?:it|this) free\b/i,
    () =>
      'This demo costs nothing. With Claude connected you pay its provider for what it is asked; a model on your own machine costs nothing. **Costs** shows what each of us costs, and sets how much a day may cost at most.',
  ],
  [
    /\b(?:private|privacy|secret|confidential|secure|safe|encrypted|who (?:can|else can|could)? ?(?:reads?|sees?)|spy|my data)\b/i,
    () =>
      'What you write is kept in this browser, and sealed wherever else it lies. While we are awake, the relay that runs Roost reads it too, because we think there; in this demo it goes no further. With a model connected, whoever runs that model reads what it is asked.',
  ],
  [
    /\b(?:see|read|open|access|look at)\b.{0,20}\b(?:my|the|all) (?:files?|folders?|computer|disk|screen|documents?|pc|laptop)\b/i,
    () =>
      'No. I see what you write to me here. Each of us has one folder of its own where Roost runs, with nothing in it but what you put there (**Files**, in our menus); what else is on your computer I cannot reach.',
  ],
];

const ROWS: typeof ASKED = [
  [
    /\b(?:connect|use|add|install|plug in|set up|choose) (?:a|the|my|another|your|ollama|claude)\b.{0,30}\b(?:model|key|claude|ollama|llm)\b|\bconnect (?:claude|ollama)\b|\b(?:api )?key\b.{0,20}\b(?:go|put|enter|paste|need)/i,
    () =>
      'Press **Connect a model**, at the top of the page. Paste a key for Claude there, or choose **A model of your own** and press **Look for one here**: that finds Ollama, LM Studio, llama.cpp or vLLM on the machine where Roost runs. It is tried at once, and your next message is answered by it.',
  ],
  [
    /^(?:(?:please|now|can you|could you|how (?:do|can) i|i want (?:you )?to|you must)\s+)*(?:delete|erase|wipe|remove|forget|clear) (?:it all|all|everything|every|me|my data|this (?:chat|conversation)|the (?:chat|conversation))\b/i,
    () =>
      'I delete nothing: that is yours to do, so that no word said in passing loses anything. On my own page, under **More**, **Forget** lets go of this conversation or of me; for 30 days it can be taken back.',
  ],
  [
    /\bwho (?:made|built|created|wrote|developed|programmed|invented) (?:you|this|roost)\b|\bwhere do you come from\b/i,
    ({ name }) =>
      `My name and my soul I found myself, the day I hatched${name === null ? '' : `: ${name}`}. The sentences of this demo were written by the people who make Roost; the thinking comes with the model that you connect.`,
  ],
  [
    /\bwhat(?: is|’s|'s|s) (?:roost|this (?:place|app|thing|program|page|site|all about)|this)[?!. ]*$/i,
    ({ human }) =>
      `Roost is a home for a team like us, ${human}. Each of us hatches once, chooses a name and keeps a soul; we sleep when you leave, and wake as who we were, with what you told us. A model that you connect does the thinking.`,
  ],
  [
    /\b(?:i am|i(?:’|')?m|i feel) (?:lost|confused|new(?: here)?|stuck)\b|\bno idea (?:what|how)\b|\b(?:do not|don(?:’|')?t) (?:understand|get (?:it|this))\b|\bwhat (?:am i|should i|do i|can i) (?:do|supposed to|doing)\b/i,
    () => START,
  ],
  [
    /\b(?:get|getting) started\b|\bwhere (?:do|should) (?:i|we) (?:start|begin)\b|\bwhat (?:now|next)\b|\bhow does (?:this|it) work\b/i,
    () => START,
  ],
  [
    /\b(?:nothing|does(?: not|n(?:’|')?t)|is(?: not|n(?:’|')?t)|stopped|not) work(?:s|ing)?\b|\b(?:i|it(?:’|')?s?) (?:broke|broken|crashed|hangs|frozen)\b|\bwent wrong\b/i,
    () =>
      'Nothing is lost here by a press. **Esc** goes back one step, a press on **Roost**, at the top, leads home, and *Settings → What you changed* has an undo for what you set. If something is wrong with the relay or the storage, the page says so across its top.',
  ],
  [
    /\b(?:talk|speak|write|chat)\b.{0,15}\b(?:all of you|everyone|everybody|the whole team|several|you all|the team)\b|\bgroup chat\b/i,
    () =>
      'Yes, in a thread: **Threads**, then **New thread**. Choose who takes part, and each of them reads what is said there.',
  ],
  [
    /\bare you (?:(?:a|an|the|really) )?(?:chat ?gpt|gpt(?:-?\d)?|claude|gemini|siri|alexa|copilot|llama|openai|google)\b/i,
    ({ name }) =>
      `No: I am ${name ?? 'one of this team'}, and no model is connected, so my words here are prepared. Connect Claude or a model of your own, and that is what I think with; who I am stays.`,
  ],
  [
    /\b(?:you(?: a|’|')?re|you are) (?:so |such an? |really |just |totally |completely |an? )*(?:useless|stupid|dumb|idiots?|bad|terrible|awful|boring|annoying|rubbish|fake|crap|shit)\b|\b(?:this|that|it)(?: is|’s|'s) (?:so |just |all |total |an? )*(?:useless|stupid|boring|rubbish|garbage|crap|shit|bullshit|nonsense|joke)[.!?\s]*$|\bshut up\b|\bi hate (?:you|this)\b|\bfuck|\bwtf\b/i,
    () =>
      'As the stand-in of a demo, I can take that: my sentences are prepared, and it shows. Connect a model, and hold me to what I say then. What were you after?',
  ],
];

/** The answer to what is asked of Roost; null: it is something else. */
export function aboutRoost(reading: Reading, said: string): string | null {
  for (const [pattern, answer] of ASKS.test(said) ? [...ROWS, ...ASKED] : ROWS)
    if (pattern.test(said)) return answer(reading);
  return null;
}
