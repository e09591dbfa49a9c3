import { useMemo } from 'react';
import { modulesOf, pathOf } from './qr.ts';

/** A QR code, dark on light in both themes: that is what cameras look for. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => {
    const modules = modulesOf(text);
    return { size: modules.length, path: pathOf(modules) };
  }, [text]);
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges" role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#0a0c14" />
    </svg>
  );
}
