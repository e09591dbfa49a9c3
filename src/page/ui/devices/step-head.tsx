import { useEffect, useRef, type ReactNode } from 'react';

/**
 * What is to be done now. It takes the focus when it comes: what had it went with the step before.
 */
export function StepHead({ children }: { children: ReactNode }) {
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => head.current?.focus(), []);
  return (
    <h3 ref={head} tabIndex={-1}>
      {children}
    </h3>
  );
}
