/**
 * A face pixel by pixel, on the head that all have: by pointer, by finger and by keyboard, with as
 * many steps back as were made.
 */
import { useEffect, useId, useRef, useState, type KeyboardEvent, type PointerEvent } from 'react';
import type { Agent } from '../../../shared/domain/agent.ts';
import { FACE_SIZE, facePixels, HEAD_ROWS, paintedFaceText, TONES } from '../../../shared/domain/face.ts';
import { t } from '../../language/t.ts';
import { EYE_ROWS, Face } from '../grid/face.tsx';
import { OneOf } from '../parts/one-of.tsx';
import { keyOf } from '../parts/keys.ts';

/** The tone of each pixel that has one, by its place. */
type Painting = ReadonlyMap<number, number>;

const [, INK, SHADE] = TONES;
const placeOf = (x: number, y: number) => y * FACE_SIZE + x;
const ROWS = new Map(HEAD_ROWS.map(([y, from, to]) => [y, { from, to }]));
const isOnHead = (x: number, y: number): boolean => {
  const row = ROWS.get(y);
  return row !== undefined && x >= row.from && x <= row.to;
};
const NAMES = new Map<number, string>([
  [INK, t`in colour`],
  [SHADE, t`in its shade`],
]);
/** Columns and rows of what can be painted on. */
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
 * `painting` with one pixel in this tone, and with the one across from it where both sides are to
 * be alike. 0: none.
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
  /** The tone in which one paints. */
  readonly tone: number;
  readonly mirrored: boolean;
  readonly onPaint: (change: (now: Painting) => Painting) => void;
  /** A stroke has ended that began here. */
  readonly onStroke: (before: Painting) => void;
  readonly onUndo: () => void;
}

function Canvas({ painting, tone, mirrored, onPaint, onStroke, onUndo }: CanvasProps) {
  const grid = useRef<HTMLDivElement>(null);
  const stroke = useRef<Stroke | null>(null);
  const [at, setAt] = useState<readonly [number, number]>([5, 6]);
  // What has the tone already is wiped: so a press is taken back by another.
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
    // A finger holds on to the pixel it came down on.
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
    // Its pixels take the focus, one at a time.
    // eslint-disable-next-line jsx-a11y/interactive-supports-focus
    <div
      ref={grid}
      className="face-canvas"
      role="grid"
      aria-label={t`The face, pixel by pixel`}
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

interface Props {
  readonly agent: Agent;
  readonly onTake: (face: string) => void;
  readonly onClose: () => void;
}

export function FacePaint({ agent, onTake, onClose }: Props) {
  const { agentId, color } = agent;
  const [painting, setPainting] = useState(() => paintingOf(agent));
  const [back, setBack] = useState<readonly Painting[]>([]);
  const [tone, setTone] = useState<number>(INK);
  const [mirrored, setMirrored] = useState(true);
  const heading = useRef<HTMLLegendElement>(null);
  const hint = useId();
  const face = textOf(painting);
  // The button that led here is gone.
  useEffect(() => heading.current?.focus(), []);
  const undo = () => {
    const last = back.at(-1);
    if (!last) return;
    setPainting(last);
    setBack(back.slice(0, -1));
  };
  return (
    <fieldset className="change-part face-paint" aria-describedby={hint}>
      <legend ref={heading} tabIndex={-1}>{t`Paint the face`}</legend>
      <div className="face-paint-work">
        <Canvas
          painting={painting}
          tone={tone}
          mirrored={mirrored}
          onPaint={setPainting}
          onStroke={(before) => setBack([...back, before])}
          onUndo={undo}
        />
        <div className="face-paint-looks" aria-hidden="true">
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
      >{t`Press or draw; what is painted already is wiped. By keyboard: arrows, and Space. What is in colour between the two lines are the eyes: they close when ${agent.name} sleeps.`}</p>
      <div className="setting-row">
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
      <div className="setting-row">
        <button type="button" className="ghost" disabled={back.length === 0} onClick={undo}>{t`Undo`}</button>
        <button
          type="button"
          className="ghost"
          disabled={painting.size === 0}
          onClick={() => {
            setBack([...back, painting]);
            setPainting(new Map());
          }}
        >{t`Begin with nothing`}</button>
        <span className="face-paint-ways">
          <button type="button" className="ghost" onClick={onClose}>{t`Leave it as it was`}</button>
          <button
            type="button"
            className="solid"
            disabled={painting.size === 0}
            onClick={() => onTake(face)}
          >{t`Take this face`}</button>
        </span>
      </div>
    </fieldset>
  );
}
