// The settings of the extension, as the server and the command line take them.

import * as vscode from "vscode";

/** What are settings of the extension alone, and no options of autofix. */
const OWN = new Set(["command", "arguments"]);

/** How autofix is started: the program and its first arguments. */
export function command(): [string, ...string[]] {
  const words = vscode.workspace.getConfiguration("autofix").get<string[]>("command", ["autofix"]);
  const [program, ...rest] = words.length > 0 ? words : ["autofix"];
  return [program, ...rest];
}

/** The options that were set, under their long names: `time_limit`, not `timeLimit`. */
export function options(scope?: vscode.Uri): Record<string, unknown> {
  const properties: Record<string, unknown> =
    vscode.extensions.getExtension("autofix.autofix")?.packageJSON.contributes.configuration.properties ?? {};
  const configuration = vscode.workspace.getConfiguration("autofix", scope);
  const chosen: Record<string, unknown> = {};
  for (const key of Object.keys(properties)) {
    const name = key.replace("autofix.", "");
    const value = configuration.get<unknown>(name);
    if (!OWN.has(name) && isSet(value)) {
      chosen[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = value;
    }
  }
  return chosen;
}

/** The same as words of a command line. */
export function words(scope: vscode.Uri): string[] {
  return Object.entries(options(scope)).flatMap(([name, value]) => {
    const option = `--${name.replaceAll("_", "-")}`;
    if (typeof value === "boolean") {
      return [value ? option : option.replace("--", "--no-")];
    }
    return Array.isArray(value) ? value.flatMap((one) => [option, String(one)]) : [option, String(value)];
  });
}

function isSet(value: unknown): boolean {
  return value !== null && value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0);
}
