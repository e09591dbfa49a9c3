/** An agent's name, looks and models. Each choice is saved at once, and one press undoes it. */
import { type KeyboardEvent, type PointerEvent, useEffect, useId, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { Agent } from '../../../shared/domain/agent.ts';
import {
  FACE_PARTS,
  FACE_SIZE,
  type FacePart,
  facePartsOf,
  facePartsText,
  facePixels,
  HEAD_ROWS,
  isPaintedFace,
  paintedFaceText,
  TONES,
} from '../../../shared/domain/face.ts';
import { AGENT_COLORS, type AgentChoice } from '../../../shared/domain/choices.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { checkName } from '../../../shared/domain/names.ts';
import { isSeatPosition, LEAD_COLOR, LEAD_ID, seatColor } from '../../../shared/domain/seat.ts';
import { retold, t } from '../../language/t.ts';
import { useActions, useHousehold, useRoost } from '../context.tsx';
import { EYE_ROWS, Face } from '../grid/face.tsx';
import { OneOf } from '../design/one-of.tsx';
import { keyOf } from '../design/keys.ts';
import { ModelSelect } from '../models/model-select.tsx';
import { Dialog } from '../design/dialog.tsx';
import { PATHS } from '../routes.ts';
import { canReadAloud } from '../voice/support.ts';
import { VoiceChoice } from '../voice/voice-choice.tsx';
import './change-dialog.css';

// The face of an agent: chosen by parts, picked from random ones, or painted by hand.

const PARTS: readonly { readonly part: FacePart; readonly label: string }[] = [
  { part: 'brows', label: t`Brows` },
  { part: 'eyes', label: t`Eyes` },
  { part: 'marks', label: t`Marks` },
  { part: 'mouth', label: t`Mouth` },
];

/** Number of random faces to choose from. */
const DRAWN = 8;

interface FaceEditorProps {
  readonly agent: Agent;
  /** `said`: text of the notice; left out: that the agent has another face. */
  readonly onTake: (face: string, said?: string) => void;
}

function Parts({ agent: { agentId, face }, onTake }: FaceEditorProps) {
  const parts = facePartsOf(agentId, face);
  const step = (part: FacePart, by: number) =>
    onTake(facePartsText({ ...parts, [part]: (parts[part] + by + FACE_PARTS[part]) % FACE_PARTS[part] }));
  return (
    <ul className="stack">
      {PARTS.map(({ part, label }) => (
        <li className="line gap-4" key={part}>
          <button
            type="button"
            className="icon-button"
            aria-label={t`${label}, the one before`}
            onClick={() => step(part, -1)}
          >
            ‹
          </button>
          <span className="grow text-3 centred">
            {label} <small className="figures block">{t`${parts[part] + 1} of ${FACE_PARTS[part]}`}</small>
          </span>
          <button
            type="button"
            className="icon-button"
            aria-label={t`${label}, the next`}
            onClick={() => step(part, 1)}
          >
            ›
          </button>
        </li>
      ))}
    </ul>
  );
}

function Drawn({ agent, faces, onTake }: FaceEditorProps & { readonly faces: readonly string[] }) {
  return (
    <ul className="drawn-faces whole-row stack gap-4" aria-label={t`Other faces`}>
      {faces.map((face, i) => (
        <li key={face}>
          <button
            className="box ground-1 full"
            type="button"
            aria-label={t`Face ${i + 1} of ${faces.length}`}
            aria-pressed={agent.face === face}
            onClick={() => onTake(face)}
          >
            <Face agentId={agent.agentId} face={face} color={agent.color} awake={false} />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** `onPaint`: opens the painter, which fills the whole dialog. */
function FaceEditor({ agent, onTake, onPaint }: FaceEditorProps & { readonly onPaint: () => void }) {
  const { device } = useRoost();
  const { agentId, name, birthName, face, color } = agent;
  const [drawn, setDrawn] = useState<readonly string[]>([]);
  const draw = () => {
    const faces = new Set<string>();
    // Two ids may yield the same face. With a thousand combinations, eight different ones are found
    // soon.
    while (faces.size < DRAWN) faces.add(facePartsText(facePartsOf(agentId, device.newId())));
    setDrawn([...faces]);
  };
  return (
    <fieldset className="no-pad no-frame narrow change-face stack middle">
      <legend className="block under-3 text-3 medium">{t`Face`}</legend>
      <span className="change-portrait">
        <Face agentId={agentId} face={face} color={color} awake />
      </span>
      {!isPaintedFace(face) && <Parts agent={agent} onTake={onTake} />}
      <div className="setting-row whole-row">
        <button type="button" className="ghost" onClick={onPaint}>{t`Paint the face`}</button>
        <button type="button" className="ghost" onClick={draw}>
          {t`Other faces`}
        </button>
        {face !== birthName && (
          <button
            type="button"
            className="ghost"
            onClick={() => onTake('', t`${name} is changed.`)}
          >{t`As at birth`}</button>
        )}
      </div>
      {drawn.length > 0 && <Drawn agent={agent} faces={drawn} onTake={onTake} />}
    </fieldset>
  );
}

// Paints a face pixel by pixel on the shared head: by pointer, finger or keyboard, with unlimited
// undo.

/** The tone of each painted pixel, by position. */
type Painting = ReadonlyMap<number, number>;

const [, INK, SHADE] = TONES;
const placeOf = (x: number, y: number) => y * FACE_SIZE + x;
const ROWS = new Map(HEAD_ROWS.map(([y, from, to]) => [y, { from, to }]));
const isOnHead = (x: number, y: number): boolean => {
  const row = ROWS.get(y);
  return row !== undefined && x >= row.from && x <= row.to;
};
const NAMES = new Map<number, string>([
  [INK, t`Colour`],
  [SHADE, t`Shade`],
]);
/** Columns and rows that can be painted. */
const FROM = 1;
const TO = FACE_SIZE - 2;
const LINE = Array.from({ length: TO - FROM + 1 }, (_, i) => FROM + i);

const MOVES: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

const paintingOf = ({ agentId, face }: Agent): Painting =>
  new Map(facePixels(agentId, face).map(({ x, y, tone }) => [placeOf(x, y), tone]));
const textOf = (painting: Painting) => paintedFaceText((x, y) => painting.get(placeOf(x, y)));

/**
 * `painting` with one pixel in this tone, and with its mirror image if both sides are alike. 0: no
 * tone.
 */
function painted(painting: Painting, [x, y]: readonly [number, number], tone: number, mirrored: boolean): Painting {
  const next = new Map(painting);
  for (const column of mirrored ? [x, FACE_SIZE - 1 - x] : [x])
    if (tone === 0) next.delete(placeOf(column, y));
    else next.set(placeOf(column, y), tone);
  return next;
}

interface Stroke {
  readonly tone: number;
  readonly before: Painting;
}

interface CanvasProps {
  readonly painting: Painting;
  /** The selected tone. */
  readonly tone: number;
  readonly mirrored: boolean;
  readonly onPaint: (change: (now: Painting) => Painting) => void;
  /** Called at the end of a stroke with the painting before it. */
  readonly onStroke: (before: Painting) => void;
  readonly onUndo: () => void;
}

function Canvas({ painting, tone, mirrored, onPaint, onStroke, onUndo }: CanvasProps) {
  const grid = useRef<HTMLDivElement>(null);
  const stroke = useRef<Stroke | null>(null);
  const [at, setAt] = useState<readonly [number, number]>([5, 6]);
  // A pixel that already has the tone is erased, so a second press undoes the first.
  const toneFrom = ([x, y]: readonly [number, number]) => (painting.get(placeOf(x, y)) === tone ? 0 : tone);
  const cellOf = (target: EventTarget | null): readonly [number, number] | null => {
    const cell = target instanceof Element ? target.closest<HTMLElement>('[data-x]') : null;
    const place = cell ? ([Number(cell.dataset['x']), Number(cell.dataset['y'])] as const) : null;
    return place && isOnHead(...place) ? place : null;
  };
  const begin = (event: PointerEvent<HTMLDivElement>) => {
    const cell = cellOf(event.target);
    if (!cell || event.button !== 0) return;
    const wanted = toneFrom(cell);
    stroke.current = { tone: wanted, before: painting };
    setAt(cell);
    onPaint((now) => painted(now, cell, wanted, mirrored));
  };
  const go = ({ clientX, clientY }: PointerEvent<HTMLDivElement>) => {
    // A touch is captured by the pixel where it began.
    if (!stroke.current) return;
    const { tone: wanted } = stroke.current;
    const cell = cellOf(document.elementFromPoint(clientX, clientY));
    if (cell) onPaint((now) => painted(now, cell, wanted, mirrored));
  };
  const end = () => {
    if (stroke.current) onStroke(stroke.current.before);
    stroke.current = null;
  };
  const press = (event: KeyboardEvent<HTMLDivElement>) => {
    const key = keyOf(event);
    const move = MOVES[key];
    if (move) {
      const next = [at[0] + move[0], at[1] + move[1]] as const;
      event.preventDefault();
      if (!isOnHead(...next)) return;
      setAt(next);
      grid.current?.querySelector<HTMLElement>(`[data-x="${next[0]}"][data-y="${next[1]}"]`)?.focus();
    } else if (key === ' ' || key === 'Enter') {
      event.preventDefault();
      const wanted = toneFrom(at);
      onPaint((now) => painted(now, at, wanted, mirrored));
      onStroke(painting);
    } else if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === 'z') {
      event.preventDefault();
      onUndo();
    }
  };
  return (
    // The pixels take the focus, one at a time.
    // eslint-disable-next-line jsx-a11y/interactive-supports-focus
    <div
      ref={grid}
      className="face-canvas"
      role="grid"
      aria-label={t`Face`}
      onPointerDown={begin}
      onPointerMove={go}
      onPointerUp={end}
      onPointerCancel={end}
      onPointerLeave={end}
      onKeyDown={press}
    >
      {LINE.map((y) => (
        <div key={y} role="row" data-eyes={y >= EYE_ROWS.from && y <= EYE_ROWS.to}>
          {LINE.map((x) =>
            isOnHead(x, y) ? (
              <span
                key={x}
                role="gridcell"
                tabIndex={x === at[0] && y === at[1] ? 0 : -1}
                aria-label={t`Row ${y}, column ${x}: ${NAMES.get(painting.get(placeOf(x, y)) ?? 0) ?? t`empty`}`}
                data-x={x}
                data-y={y}
                data-tone={painting.get(placeOf(x, y)) ?? 0}
                onFocus={() => setAt([x, y])}
              />
            ) : (
              <span key={x} role="presentation" />
            ),
          )}
        </div>
      ))}
    </div>
  );
}

interface FacePaintProps {
  readonly agent: Agent;
  readonly onTake: (face: string) => void;
  readonly onClose: () => void;
}

function FacePaint({ agent, onTake, onClose }: FacePaintProps) {
  const { agentId, color } = agent;
  const [painting, setPainting] = useState(() => paintingOf(agent));
  const [back, setBack] = useState<readonly Painting[]>([]);
  const [tone, setTone] = useState<number>(INK);
  const [mirrored, setMirrored] = useState(true);
  const heading = useRef<HTMLLegendElement>(null);
  const hint = useId();
  const face = textOf(painting);
  // The button that opened the painter is gone.
  useEffect(() => heading.current?.focus(), []);
  const undo = () => {
    const last = back.at(-1);
    if (!last) return;
    setPainting(last);
    setBack(back.slice(0, -1));
  };
  return (
    <fieldset className="no-pad no-frame narrow face-paint" aria-describedby={hint}>
      <legend ref={heading} tabIndex={-1}>{t`Paint the face`}</legend>
      <div className="gap-6 cluster">
        <Canvas
          painting={painting}
          tone={tone}
          mirrored={mirrored}
          onPaint={setPainting}
          onStroke={(before) => setBack([...back, before])}
          onUndo={undo}
        />
        <div className="face-paint-looks gap-5 flex" aria-hidden="true">
          <span>
            <Face agentId={agentId} face={face} color={color} awake={false} />
          </span>
          <span data-asleep="true">
            <Face agentId={agentId} face={face} color={color} awake={false} />
          </span>
        </div>
      </div>
      <p
        id={hint}
        className="setting-hint"
      >{t`Press to paint or to wipe. By keyboard: arrows and Space. The eyes are between the two lines.`}</p>
      <div className="setting-row cluster gap-4 above-4">
        <OneOf
          label={t`Paint with`}
          options={[
            { value: INK, text: t`Colour` },
            { value: SHADE, text: t`Shade` },
          ]}
          value={tone}
          onChange={setTone}
        />
        <label className="tick-line">
          <input type="checkbox" checked={mirrored} onChange={() => setMirrored(!mirrored)} />
          {t`Both sides alike`}
        </label>
      </div>
      <div className="setting-row cluster gap-4 above-4">
        <button type="button" className="ghost" disabled={back.length === 0} onClick={undo}>{t`Undo`}</button>
        <button
          type="button"
          className="ghost"
          disabled={painting.size === 0}
          onClick={() => {
            setBack([...back, painting]);
            setPainting(new Map());
          }}
        >{t`Clear`}</button>
        <span className="end flex wrap gap-4">
          <button type="button" className="ghost" onClick={onClose}>{t`Cancel`}</button>
          <button
            type="button"
            className="solid"
            disabled={painting.size === 0}
            onClick={() => onTake(face)}
          >{t`Save`}</button>
        </span>
      </div>
    </fieldset>
  );
}

interface Props {
  readonly agent: Agent;
}

function useChoose({ agent }: Props) {
  const actions = useActions();
  const { notices } = useRoost();
  return async (choice: Partial<AgentChoice>, said: string) => {
    const { model } = agent;
    const before: AgentChoice = {
      model,
      color: AGENT_COLORS.some(({ color }) => color === agent.color) ? agent.color : '',
      face: agent.face === agent.birthName ? '' : agent.face,
    };
    const back = Object.fromEntries(Object.entries(before).filter(([key]) => Object.hasOwn(choice, key)));
    const done = await actions.choose(agent.agentId, choice);
    if (!done.ok) notices.error(t`Could not save this. ${done.reason}`);
    else notices.info(said, { label: t`Undo`, run: () => void actions.choose(agent.agentId, back) });
  };
}

function Name({ agent }: Props) {
  const actions = useActions();
  const { notices } = useRoost();
  const human = useHousehold((state) => state.settings.humanName);
  const [draft, setDraft] = useState(agent.name);
  const [wrong, setWrong] = useState<string | null>(null);
  const id = useId();
  const save = async () => {
    const checked = checkName(draft, 'agent', human);
    setWrong(checked.ok ? null : retold(checked.reason));
    if (!checked.ok || checked.name === agent.name) return;
    const { name: before } = agent;
    const rename = (name: string) => actions.changeAgent(agent.agentId, [{ kind: 'rename', name }]);
    const done = await rename(checked.name);
    if (!done.ok) return setWrong(t`Could not save this. ${done.reason}`);
    notices.info(t`${before} is called ${checked.name} now.`, { label: t`Undo`, run: () => void rename(before) });
  };
  return (
    <form
      className="no-pad no-frame narrow"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <label className="block under-3 text-3 medium" htmlFor={id}>{t`Name`}</label>
      <div className="setting-row">
        <input
          id={id}
          className="field"
          dir="auto"
          autoComplete="off"
          value={draft}
          aria-invalid={wrong !== null}
          aria-describedby={`${id}-hint`}
          onChange={({ target }) => setDraft(target.value)}
        />
        {draft.trim() !== agent.name && <button type="submit" className="solid">{t`Save`}</button>}
      </div>
      <p
        id={`${id}-hint`}
        className={wrong === null ? 'setting-hint' : 'setting-state'}
        data-wrong={wrong !== null}
        role={wrong === null ? undefined : 'alert'}
      >
        {wrong ?? t`It learns a new name when it next wakes.`}
      </p>
    </form>
  );
}

function Colour({ agent }: Props) {
  const choose = useChoose({ agent });
  const name = useId();
  const own = AGENT_COLORS.some(({ color }) => color === agent.color);
  const seats = isSeatPosition(agent.position) ? seatColor(agent.position) : agent;
  const options = [
    ...(isSeatPosition(agent.position) ? [{ ...seats, colorName: t`${seats.colorName}, its seat’s`, value: '' }] : []),
    ...AGENT_COLORS.map((each) => ({ ...each, value: each.color as string })),
  ];
  return (
    <fieldset className="no-pad no-frame narrow">
      <legend className="block under-3 text-3 medium">{t`Colour`}</legend>
      <div className="swatches flex wrap gap-2">
        {options.map(({ value, color, colorName }) => (
          <label className="both-centred stack" key={color} title={colorName} style={{ '--c': color }}>
            <input
              type="radio"
              className="visually-hidden"
              name={name}
              checked={own ? value === agent.color : value === ''}
              onChange={() => void choose({ color: value }, t`${agent.name} is changed.`)}
            />
            <i className="round-s size-m" aria-hidden="true" />
            <span className="visually-hidden">{colorName}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function Thinks({ agent, onClose }: Props & { readonly onClose: () => void }) {
  const choose = useChoose({ agent });
  return (
    <div className="no-pad no-frame narrow">
      <ModelSelect
        label={t`Model`}
        hint={t`Applies from the next message. ${<Link href={PATHS.continuity(agent.agentId)} onClick={onClose}>{t`Let ${agent.name} sit an exam first`}</Link>}`}
        value={agent.model}
        standard={t`Default: the team’s`}
        onChange={(model) => void choose({ model }, t`${agent.name} is changed.`)}
      />
    </div>
  );
}

function Changes({ agent, onClose }: Props & { readonly onClose: () => void }) {
  const choose = useChoose({ agent });
  const [painting, setPainting] = useState(false);
  const lead = agent.agentId === LEAD_ID;
  const take = (face: string, said = t`${agent.name} is changed.`) => {
    setPainting(false);
    void choose({ face }, said);
  };
  const style = { '--c': lead ? LEAD_COLOR.color : agent.color };
  if (painting)
    return (
      <div className="change tint stack gap-7" style={style}>
        <FacePaint agent={agent} onTake={take} onClose={() => setPainting(false)} />
      </div>
    );
  return (
    <div className="change tint stack gap-7" style={style}>
      {lead ? (
        <p className="flex wrap gap-4">
          <Link href={PATHS.settings('people', t`Lead's name`)}>{t`Lead's name`}</Link>
          <Link href={PATHS.settings('minds', t`Model of the lead`)}>{t`Model of the lead`}</Link>
        </p>
      ) : (
        <>
          <Name key={agent.name} agent={agent} />
          <Colour agent={agent} />
        </>
      )}
      <FaceEditor agent={agent} onTake={take} onPaint={() => setPainting(true)} />
      {!lead && <Thinks agent={agent} onClose={onClose} />}
      {canReadAloud() && <VoiceChoice agentId={agent.agentId} name={agent.name} />}
    </div>
  );
}

export default function ChangeDialog({ agentId, onClose }: { agentId: AgentId; onClose: () => void }) {
  const agent = useHousehold((state) => state.roster.byId.get(agentId));
  if (!agent) return null;
  return (
    <Dialog title={t`Change ${agent.name}`} onClose={onClose}>
      <Changes agent={agent} onClose={onClose} />
    </Dialog>
  );
}
