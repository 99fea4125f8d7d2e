// The superadmin's two cookies: their names, their attributes, and what a request's Cookie header holds of them.
import type { Seal } from "./sealed.js";

export interface AdminCookie {
  /** The value of a `Set-Cookie` header. */
  set(secret: string, mountPath: string, seconds: number): string;
  /** The value of a `Set-Cookie` header that makes the browser forget the cookie. */
  clear(mountPath: string): string;
  /** Whether the header carries this cookie at all, and every secret in it that opens; tampered ones are left out. */
  read(cookieHeader: string | undefined): { readonly present: boolean; readonly secrets: readonly string[] };
}

/**
 * A cookie that scripts cannot read and other sites cannot send.
 * @param baseName without prefix; `__Host-` or `__Secure-` is added where the rules for them are met
 * @param secure whether it only travels over HTTPS (mode `prod`)
 */
export function createAdminCookie(baseName: string, seal: Seal, secure: boolean): AdminCookie {
  const names = secure ? [`__Host-${baseName}`, `__Secure-${baseName}`] : [baseName];
  const nameAt = (path: string): string => (secure ? (path === "/" ? names[0]! : names[1]!) : baseName);
  const format = (value: string, mountPath: string, seconds: number): string => {
    const path = cookiePath(mountPath);
    return `${nameAt(path)}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
  };
  return {
    set: (secret, mountPath, seconds) => format(seal.seal(secret), mountPath, seconds),
    clear: (mountPath) => format("", mountPath, 0),
    read(cookieHeader) {
      let present = false;
      const secrets: string[] = [];
      for (const part of (cookieHeader ?? "").split(";", 100)) {
        const equals = part.indexOf("=");
        if (equals < 0 || !names.includes(part.slice(0, equals).trim())) continue;
        const value = part.slice(equals + 1).trim();
        if (value === "") continue;
        present = true;
        const secret = seal.open(value);
        if (secret !== undefined) secrets.push(secret);
      }
      return { present, secrets };
    },
  };
}

function cookiePath(mountPath: string): string {
  // A mount path may hold what ends an attribute; such a path falls back to the root.
  return /^\/[A-Za-z0-9._~%!$&'()*+=:@/-]*$/.test(mountPath) ? mountPath : "/";
}
