import { t } from '../../language/t.ts';
import { useHousehold, useLive, usePending } from '../context.tsx';
import { Face } from '../grid/face.tsx';
import { SeatFigure } from '../grid/seat-figure.tsx';
import { whereWordsGo } from '../text/answering.ts';
import type { Speaker } from './message.tsx';

/** First words to begin with; the person sends them, or not. */
const OPENERS: Record<'lead' | 'agent', readonly string[]> = {
  lead: [t`Who is here, and how are they?`, t`What would you like us to do first?`, t`Tell me how you see this team.`],
  agent: [
    t`How did you come to your name?`,
    t`What would you like to be asked about?`,
    t`What have you been turning over?`,
  ],
};

function hint(speaker: Speaker, born: number, running: boolean, calling: boolean): { title: string; text: string } {
  const { name } = speaker;
  if (speaker.kind === 'egg')
    return {
      title: t`Somebody is on the way`,
      text: t`The first words appear here as they are found. The name comes out of them.`,
    };
  if (speaker.kind === 'seatless')
    return { title: name, text: t`There is no seat for this agent now. Give it one under Settings, Team and seats.` };
  if (speaker.kind === 'lead') {
    if (born === 0 && calling)
      return {
        title: t`${name} calls the team`,
        text: t`Each finds its own name, and what it thinks aloud becomes its soul.`,
      };
    if (born === 0)
      return {
        title: running ? t`${name} is here` : t`${name} waits for you`,
        text: t`Nobody else is born yet. SUMMON brings eight to life; each finds its own name.`,
      };
    return running
      ? { title: t`Nothing said yet today`, text: t`${name} leads the team, and hears what you write here.` }
      : { title: t`${name} sleeps`, text: t`WAKE brings everybody back. What you write now waits until then.` };
  }
  if (speaker.awake) return { title: t`${name} is awake`, text: t`What you write here goes to nobody else.` };
  if (speaker.seat.state === 'hatching') return { title: t`${name} is waking`, text: t`The first words appear here.` };
  if (speaker.seat.state === 'played')
    return {
      title: t`${name} is driven by ${speaker.seat.client?.name ?? t`a program`}`,
      text: whereWordsGo(name, speaker.seat) ?? '',
    };
  return {
    title: t`${name} sleeps`,
    text: t`There is no conversation yet. Leave a message: it waits, and is read on waking.`,
  };
}

export function EmptyLog({ speaker, onPick }: { speaker: Speaker; onPick: (text: string) => void }) {
  const born = useHousehold((state) => state.roster.seats.size);
  const running = useLive((state) => state.live !== null);
  const calling = usePending(({ call }) => call === 'summon');
  const { title, text } = hint(speaker, born, running, calling);
  const openers = speaker.awake ? OPENERS[speaker.kind === 'lead' ? 'lead' : 'agent'] : [];
  return (
    <div className="empty-log tint" style={{ '--c': speaker.color }}>
      <div
        className="empty-figure"
        data-asleep={
          speaker.kind === 'agent' ? speaker.seat.state === 'sleeping' : speaker.kind === 'lead' && !speaker.awake
        }
        aria-hidden="true"
      >
        {speaker.kind === 'agent' || speaker.kind === 'egg' ? (
          <SeatFigure seat={speaker.seat} />
        ) : (
          <Face agentId={speaker.agentId} face={speaker.face} color={speaker.color} awake={speaker.awake} />
        )}
      </div>
      <h3>{title}</h3>
      <p>{text}</p>
      {openers.length > 0 && (
        <ul>
          {openers.map((opener) => (
            <li key={opener}>
              <button type="button" className="chip" onClick={() => onPick(opener)}>
                {opener}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
