/**
 * The face of somebody: by its parts, drawn anew with others to choose from, or painted
 * (face-paint.tsx).
 */
import { useState } from 'react';
import type { Agent } from '../../../shared/domain/agent.ts';
import { FACE_PARTS, facePartsOf, facePartsText, isPaintedFace, type FacePart } from '../../../shared/domain/face.ts';
import { t } from '../../language/t.ts';
import { useRoost } from '../context.tsx';
import { Face } from '../grid/face.tsx';

const PARTS: readonly { readonly part: FacePart; readonly label: string }[] = [
  { part: 'brows', label: t`Brows` },
  { part: 'eyes', label: t`Eyes` },
  { part: 'marks', label: t`Marks` },
  { part: 'mouth', label: t`Mouth` },
];

/** Faces that one can choose from when they are drawn anew. */
const DRAWN = 8;

interface Props {
  readonly agent: Agent;
  /** `said`: what the person is told; left out: that it has another face. */
  readonly onTake: (face: string, said?: string) => void;
}

function Parts({ agent: { agentId, face }, onTake }: Props) {
  const parts = facePartsOf(agentId, face);
  const step = (part: FacePart, by: number) =>
    onTake(facePartsText({ ...parts, [part]: (parts[part] + by + FACE_PARTS[part]) % FACE_PARTS[part] }));
  return (
    <ul>
      {PARTS.map(({ part, label }) => (
        <li key={part}>
          <button
            type="button"
            className="icon-button"
            aria-label={t`${label}, the one before`}
            onClick={() => step(part, -1)}
          >
            ‹
          </button>
          <span>
            {label} <small>{t`${parts[part] + 1} of ${FACE_PARTS[part]}`}</small>
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

function Drawn({ agent, faces, onTake }: Props & { readonly faces: readonly string[] }) {
  return (
    <ul className="drawn-faces" aria-label={t`Drawn anew`}>
      {faces.map((face, i) => (
        <li key={face}>
          <button
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

/** `onPaint`: it is to be painted, which takes the whole dialog. */
export function FaceEditor({ agent, onTake, onPaint }: Props & { readonly onPaint: () => void }) {
  const { device } = useRoost();
  const { agentId, name, birthName, face, color } = agent;
  const [drawn, setDrawn] = useState<readonly string[]>([]);
  const draw = () => {
    const faces = new Set<string>();
    // Two names may have one face; of a thousand, eight are soon there.
    while (faces.size < DRAWN) faces.add(facePartsText(facePartsOf(agentId, device.newId())));
    setDrawn([...faces]);
  };
  return (
    <fieldset className="change-part change-face">
      <legend>{t`Face`}</legend>
      <span className="change-portrait">
        <Face agentId={agentId} face={face} color={color} awake />
      </span>
      {isPaintedFace(face) ? (
        <p className="setting-hint">{t`You painted it.`}</p>
      ) : (
        <Parts agent={agent} onTake={onTake} />
      )}
      <div className="setting-row">
        <button type="button" className="ghost" onClick={onPaint}>{t`Paint it`}</button>
        <button type="button" className="ghost" onClick={draw}>
          {drawn.length === 0 ? t`Draw anew` : t`Others`}
        </button>
        {face !== birthName && (
          <button
            type="button"
            className="ghost"
            onClick={() => onTake('', t`${name} has the face of its birth again.`)}
          >{t`As at birth`}</button>
        )}
      </div>
      {drawn.length > 0 && <Drawn agent={agent} faces={drawn} onTake={onTake} />}
    </fieldset>
  );
}
