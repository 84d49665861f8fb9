"""The sentences of methods and preregistrations in German; names of columns, levels and settings stay as they are."""

from __future__ import annotations

from karat.report.words.language import Language

NOUNS = {
    "participant": ("Person", "Personen"), "item": ("Item", "Items"), "test item": ("Test-Item", "Test-Items"),
    "list": ("Liste", "Listen"), "trial": ("Trial", "Trials"), "answer": ("Antwort", "Antworten"),
    "condition": ("Bedingung", "Bedingungen"), "question": ("Frage", "Fragen"), "day": ("Tag", "Tage"),
    "stimulus": ("Stimulus", "Stimuli"), "attempt": ("Versuch", "Versuche"),
    "minute": ("Minute", "Minuten"), "pair": ("Paar", "Paare"), "factor": ("Faktor", "Faktoren"),
    "time": ("Mal", "Mal"), "step": ("Schritt", "Schritten"),
}  # fmt: skip

TEXTS = {
    "yes": "ja", "no": "nein",
    "block": "Block {name}: {text}",
    "task.yes-no": "die Teilnehmenden [beantworteten|beantworten] jeden Stimulus mit {low} oder {high}.",
    "task.likert": "die Teilnehmenden [bewerteten|bewerten] jeden Stimulus auf einer Skala mit {points} "
    "Punkten{ends}{slider}.",
    "task.choice": "die Teilnehmenden [sahen|sehen] je zwei Stimuli und [wählten|wählen] einen davon{none}.",
    "task.magnitude": "die Teilnehmenden [gaben|geben] jedem Stimulus eine Zahl im Verhältnis zu seiner "
    "Akzeptabilität{modulus} [@bard1996].",
    "task.differential": "die Teilnehmenden [bewerteten|bewerten] jeden Text nach gegensätzlichen Adjektiven ({pairs}, "
    "je {points} Punkte){slider} [@osgood1957; @macketanz2022].",
    "task.label": "die Teilnehmenden [gaben|geben] jedem Stimulus eine von {number} Kategorien ({levels}).",
    "task.continuous": "die Teilnehmenden [bewerteten|bewerten] jeden Stimulus auf einer Linie von {low} bis {high}.",
    "task.number": "die Teilnehmenden [gaben|geben] jedem Stimulus eine Zahl.",
    "ends": ", von {low} bis {high}",
    "slider": ", mit einem Schieberegler ohne Anfangsstellung",
    "none": " oder [antworteten|antworten] „kein Unterschied“",
    "modulus": ", verglichen mit einem Modulus von {number}",
    "repeated": "Zweimal gefragt [wurden|werden] {pairs}.",
    "prompt": "Die Frage [lautete|lautet] {prompt}.",
    "factors": "Das Design [hatte|hat] {number}: {factors}.",
    "factor": "{name} ({levels}; {within})",
    "within.": "innerhalb von Items und Personen", "within.items": "zwischen Items",
    "within.participants": "zwischen Personen",
    "compared": "Die Stufen von {factor} [wurden|werden] nebeneinander gezeigt.",
    "items": "Es [gab|gibt] {tests}; Zahl der Listen: {lists}.",
    "items.conditions": "Es [gab|gibt] {tests} in {conditions}, verteilt auf {lists}.",
    "subset": "Jede Person [beurteilte|beurteilt] {items}; jedes Item [wurde|wird] von {participants} beurteilt.",
    "random pairs": "Dazu [sah|sieht] jede Person {pairs} nach Zufall.",
    "functions": "Eine Liste [hatte|hat] {trials}: {functions}.",
    "function": "{number} {name}", "function.test": "Test", "function.filler": "Füller",
    "function.control": "Kontrolle", "function.attention": "Aufmerksamkeit", "function.calibration": "Eichung",
    "function.practice": "Übung",
    "range": "{low} bis {high}",
    "clear": "Kontroll- und Aufmerksamkeitstrials haben eine klare Antwort [@pieper].",
    "rounds": "Die Items [wurden|werden] {times} beurteilt, jedes Mal in neuer Reihenfolge.",
    "sessions": "Es [gab|gibt] zwei Sitzungen{days}.",
    "days": " (Abstand mindestens {days})",
    "order": "Die Reihenfolge der Trials [wurde|wird] für jede Person neu gezogen.",
    "order.rules": "Die Reihenfolge der Trials [wurde|wird] für jede Person neu gezogen, unter diesen Bedingungen: "
    "{rules}.",
    "order.calibration": "Eichtrials kommen zuerst",
    "order.adjacent": "keine zwei Testtrials folgen aufeinander",
    "order.spread": "Trials dieser Funktion sind gleichmäßig verteilt: {functions}",
    "order.in_a_row": "höchstens {number} hintereinander haben dasselbe {column}",
    "order.distance": "Trials mit demselben {column} sind mindestens {number} Stellen voneinander entfernt",
    "order.keep_ratio": "der Anteil der Testtrials ist in jedem Viertel gleich",
    "order.mixed_blocks": "die Trials sind auf {number} gleich gemischte Blöcke verteilt",
    "quiz": "Vor den Trials [stand|steht] ein Quiz zur Instruktion ({questions}, höchstens {attempts}).",
    "browser": "Der Fragebogen wurde mit karat durchgeführt, das Trials mit jsPsych im Browser zeigt [@deleeuw2015].",
    "answers": "Die Daten umfassen {answers} zu {items} von {participants}; der Median je Person ist {median}.",
    "answers.functions": "Nach Funktion der Trials: {functions}.",
    "simulated": "Diese Antworten sind simuliert: Niemand hat sie gegeben. Sie zeigen, wie ein Bericht über diese "
    "Studie aussähe, und sagen nichts über Menschen oder Sprache.",
    "simulated.some": "Simuliert: {number} von {participants}; deren Antworten hat niemand gegeben. Sie gehören "
    "weggelassen, bevor etwas daraus geschlossen wird.",
    "simulated.methods": "Die Antworten wurden mit karat simuliert, um die Studie zu erproben, bevor jemand gefragt "
    "wird: Niemand wurde gewonnen, und niemand hat geantwortet. Wo hier von Teilnehmenden, Antworten und Antwortzeiten "
    "die Rede ist, sind simulierte gemeint.",
    "simulated.methods.some": "Mit karat simuliert wurden {number} von {participants}; deren Antworten hat niemand "
    "gegeben.",
    "simulated.took part": "Die Daten stammen von {participants}, die alle simuliert sind.",
    "platform": "Die Teilnehmenden [wurden|werden] über {platform} gewonnen; angestrebte Zahl geeigneter Personen: "
    "{number}.",
    "source.link": "ein Link",
    "platform.link": "Die Teilnehmenden [wurden|werden] über einen Link gewonnen; angestrebte Zahl geeigneter "
    "Personen: "
    "{number}.",
    "pay": "Die angegebene Vergütung [betrug|beträgt] {pay} {currency} je Stunde.",
    "minutes": "Die angegebene Dauer [betrug|beträgt] {minutes}.",
    "eligible": "Geeignet [war|ist], wer auf die Frage {question} mit {answers} [antwortete|antwortet].",
    "asked": "Die Teilnehmenden [wurden|werden] außerdem gefragt nach: {columns}.",
    "took part": "Die Daten stammen von {participants}.",
    "sources": "Nach Herkunft: {counts}.",
    "when": "Die Antworten wurden zwischen dem {first} und dem {last} gegeben.",
    "when.day": "Die Antworten wurden am {first} gegeben.",
    "working.minutes": "Der Median der Bearbeitungszeit war {median} Minuten.",
    "working.seconds": "Der Median der Bearbeitungszeit war {median} Sekunden.",
    "background": "{column}: {counts}.",
    "background.number": "{column}: Median {median}, {low} bis {high}.",
    "count": "{value} ({number})", "count.missing": "unbekannt ({number})",
    "rules.study": "Kriterien, Einstellungen und die Regel, die sie verbindet, sind die der Studiendatei mit dem "
    "Fingerabdruck {fingerprint}; an ihm lässt sich die Datei mit einer registrierten Kopie vergleichen.",
    "rules.other": "Die angewandten Kriterien oder die Regel sind nicht die der Studiendatei (Fingerabdruck "
    "{fingerprint}).",
    "rules.given": "Kriterien und Regel wurden für diese Auswertung angegeben; keine Studiendatei legt sie fest.",
    "rules.none": "Es [war|ist] keine Ausschlussregel angegeben; niemand [wurde|wird] ausgeschlossen.",
    "rules.evidence": "Was Kriterien fanden, ist nur ein Hinweis.",
    "stages": "Die Kriterien [wurden|werden] in drei Stufen angewandt: Vollständigkeit, Antwortzeiten, Antworten. Wer "
    "nach einer Stufe ausgeschlossen [war|ist], [ging|geht] nicht in die nächste ein.",
    "asks": "Die Kriterien [verlangten|verlangen] Folgendes.",
    "flagged": "{name}: {clause}{cites}; {number} von {participants} auffällig.",
    "stage.excluded": "Daraufhin ausgeschlossen: {number} von {entered}; es blieben {remained}.",
    "stage.nobody": "Auf dieser Stufe wurde niemand ausgeschlossen.",
    "planned": "{name}: {clause}{cites}.",
    "skipped": "{name}: nicht berechenbar (Meldung auf Englisch: {why}).",
    "skipped.several": "Mit diesen Daten nicht berechenbar: {names}.",
    "rule.any": "wer nach irgendeinem Kriterium [auffiel|auffällt]",
    "rule.all": "wer nach allen Kriterien [auffiel|auffällt]",
    "rule.number": "wer nach mindestens {number} Kriterien [auffiel|auffällt]",
    "rule.expression": "auf wen „{rule}“ [zutraf|zutrifft]",
    "rule": "Ausgeschlossen [wurde|wird], {rule}.",
    "verdict": "Insgesamt ausgeschlossen: {number} von {participants}; {kept} gingen in die Auswertung ein.",
    "index": "Der Spammer-Index der Verbliebenen war {value} (95-%-Intervall {lower} bis {upper}) [@ba2024].",
    "no study": "Es gibt keine Studiendatei; es wurde nichts festgelegt, was präregistriert werden könnte.",
    "no screening": "Die Studiendatei nennt keine Ausschlusskriterien; niemand wird ausgeschlossen.",
    "fingerprint": "Der Fingerabdruck der Studiendatei und ihrer Tabellen ist {fingerprint}.",
    "nobody else": "Nach anderen Kriterien wird niemand ausgeschlossen.",
    "further": "{name} = {value}",
    "needs": "auffällig [war|ist] (auf Englisch): {asks}",
    "needs.eligibility": "zulassende Antworten: {answers}",
    "needs.eligibility.same": "Spalten, die übereinstimmen müssen: {same}",
    "needs.quiz": "Quiz bestanden; Versuche höchstens {attempts_at_most}",
    "needs.completion": "mindestens {at_least} der Trials beantwortet, keine Person doppelt",
    "needs.completion.trials": "mindestens {at_least} von {trials} Trials beantwortet, keine Person doppelt",
    "needs.speed.mean_below": "mittlere Antwortzeit mindestens {mean_below} s",
    "needs.speed.median_below": "Median der Antwortzeit mindestens {median_below} s",
    "needs.speed.relative_below": "Median der Antwortzeit mindestens {relative_below} dessen der medianen Person",
    "needs.speed.share_of_expected": "Bearbeitungszeit über {share_of_expected} von {expected_minutes} Minuten",
    "needs.remfod": "mindestens {genuine_at_least} der Antwortzeiten weder Unterbrechungen, mehr als {upper} mediane "
    "absolute Abweichungen über dem Median nach Person und nach Item-Funktion, noch übereilt, mehr als {lower} "
    "darunter, in Runden bestimmt",
    "needs.remfod.rule": "mindestens {genuine_at_least} der Antwortzeiten nach der Regel {rule} unauffällig",
    "needed": "mindestens {needed} von {trials} richtig",
    "needed.group": "mindestens {needed} von {trials} {group} richtig",
    "needed.guess": "Raten besteht mit p {p}", "group.grammatical": "grammatischen",
    "group.ungrammatical": "ungrammatischen", "account.positional": "positional", "account.relational": "relational",
    "account.extended": "erweitert relational", "account.strict": "streng", "account.pairwise": "paarweise",
    "needs.controls": "klare Fälle unterschieden, Maßstab {account}, Alpha = {alpha}",
    "needs.controls.slips": "klare Fälle unterschieden, Maßstab {account}, höchstens {slips} falsch",
    "needs.controls.neutral": "höchstens {neutral_at_most} neutrale Antworten auf Kontrollen",
    "needs.attention": "Aufmerksamkeitstrials richtig beantwortet, Maßstab {account}, Alpha = {alpha}",
    "needs.attention.slips": "Aufmerksamkeitstrials richtig beantwortet, Maßstab {account}, höchstens {slips} falsch",
    "needs.straightlining": "keine Folge und kein Muster von Antworten mit einer Zufallswahrscheinlichkeit unter "
    "{alpha}",
    "needs.inconsistency": "Unterschied wiederholter Antworten höchstens {upper} mediane absolute Abweichungen über "
    "dem "
    "Median",
    "needs.scale_use": "höchstens {neutral_at_most} neutrale Antworten",
    "needs.even_odd": "Korrelation der Antworthälften mindestens {at_least}",
    "needs.mahalanobis": "Abstand von den Antworten aller mit einer Wahrscheinlichkeit von mindestens {alpha}",
    "needs.person_total": "Korrelation mit den Mittelwerten der anderen mindestens {at_least}",
    "needs.time_filter.mean": "mittlere Antwortzeit nicht unter dem Mittel aller Zeiten",
    "needs.time_filter.mean-sd": "mittlere Antwortzeit höchstens eine Standardabweichung unter dem Mittel aller Zeiten",
    "needs.markov": "kein Muster in den Übergängen zwischen Antworten; Grenzwerte {cutoffs}, Alpha = {alpha}",
    "needs.risk": "keine hohe Risikostufe nach Muster, Zeit und Richtigkeit; Grenzwerte {cutoffs}, Alpha = {alpha}",
    "needs.deletion": "keine große Änderung des Modells aller Antworten; Regel {by}, Alpha = {alpha}",
    "needs.credence": "Wahrscheinlichkeit ernsthafter Antworten mindestens {below}",
    "needs.procedure": "nicht alle Schritte erfüllt: Spammer-Index ab {least_index}, {order}, Hilfsfaktor {auxiliary}, "
    "Grenzwerte {cutoffs}, Alpha = {alpha}",
    "analysed": "In die Maße [gingen|gehen] Trials mit der Funktion {functions} ein; Intervalle haben das "
    "Niveau "
    "{level}.",
    "question": "{text} ({question})",
    "strengths.ordinal": "Die Stärke der Stimuli ({stimuli}) [wurde|wird] mit einem kumulativen Logit-Modell mit "
    "Zufallseffekten von Personen und Stimuli geschätzt [@mccullagh1980].",
    "strengths.binary": "Die Stärke der Stimuli ({stimuli}) [wurde|wird] mit einem Logit-Modell mit Zufallseffekten "
    "von "
    "Personen und Stimuli geschätzt [@bates2015].",
    "strengths.mean": "Die Stärke der Stimuli ({stimuli}) [war|ist] die mittlere Antwort.",
    "strengths.zscore": "Die Stärke der Stimuli ({stimuli}) [war|ist] das Mittel der je Person standardisierten "
    "Antworten.",
    "strengths.magnitude": "Die Stärke der Stimuli ({stimuli}) [war|ist] das Mittel der logarithmierten, je Person "
    "standardisierten Verhältnisse zum Modulus [@bard1996].",
    "strengths.thurstone": "Die Stärke der Stimuli ({stimuli}) [wurde|wird] mit Thurstones Modell mit drei Antworten "
    "geschätzt, in dem Personen sich in Streuung und Kriterium unterscheiden [@thurstone1927; @langsford2018].",
    "strengths.davidson": "Die Stärke der Stimuli ({stimuli}) [wurde|wird] mit Davidsons Modell geschätzt, das „kein "
    "Unterschied“ als dritte Antwort hat [@davidson1970].",
    "strengths.bradley-terry": "Die Stärke der Stimuli ({stimuli}) [wurde|wird] mit dem Modell von Bradley und Terry "
    "geschätzt [@bradley1952].",
    "all stimuli": "alle",
    "contrasts.ordinal": "Bedingungen [wurden|werden] mit einem gemischten kumulativen Logit-Modell verglichen, "
    "{formula} "
    "[@mccullagh1980; @barr2013], mit Walds Typ-III-Tests und Holms Korrektur innerhalb der Terme [@holm1979].",
    "contrasts.binary": "Bedingungen [wurden|werden] mit einem gemischten Logit-Modell verglichen, {formula} "
    "[@bates2015; "
    "@barr2013], mit Walds Typ-III-Tests und Holms Korrektur innerhalb der Terme [@holm1979].",
    "contrasts.gaussian": "Bedingungen [wurden|werden] mit einem linearen gemischten Modell verglichen, {formula} "
    "[@bates2015; @barr2013], mit Typ-III-F-Tests, Satterthwaites Freiheitsgraden [@satterthwaite1946; "
    "@kuznetsova2017] und Holms Korrektur innerhalb der Terme [@holm1979].",
    "simplified": "Seine Zufallseffekte wurden in {times} vereinfacht, weil die Anpassung singulär war; übrig blieb "
    "{formula}.",
    "simplify": "Steigungen variieren nach Person und Item, wo das Design mehrere Antworten je Zelle hat; ist die "
    "Anpassung singulär, werden die Zufallseffekte vereinfacht, und der Bericht sagt, wie.",
    "planned contrasts": "Geplante Vergleiche [waren|sind]: {contrasts}; p-Werte sind nicht korrigiert, Holms "
    "Korrektur "
    "[@holm1979] steht daneben.",
    "contrast": "{name} ({factor}: {first} minus {second}{within})",
    "contrast.within": ", wo {levels}",
    "part.order effects": "Reihenfolgeeffekte sind Steigungen der Antworten und der logarithmierten Antwortzeiten "
    "über die "
    "Position des Trials, nach Bedingung, in einem gemischten Modell.",
    "part.decisions": "Entscheidungen über Paare sind Tests, welcher von zwei Stimuli der bessere ist, mit Tests auf "
    "Äquivalenz daneben [@langsford2018].",
    "part.agreement": "Die Übereinstimmung ist angegeben als {coefficients}, mit Bootstrap-Intervallen über "
    "Personen{cites}.",
    "part.noise ceiling": "Die Rauschgrenze ist die Split-Half-Reliabilität und die Korrelation jeder Person mit den "
    "anderen [@nili2014].",
    "part.decision study": "Wie viele Personen und Items ein reliables Mittel braucht, folgt aus den "
    "Varianzkomponenten "
    "[@brennan2001].",
    "part.stability": "Die Stabilität ist die Korrelation der Werte zwischen Sitzungen oder Gruppen, mit "
    "Bootstrap-Intervallen [@langsford2018].",
    "part.factors": "Dimensionen [wurden|werden] mit einer Faktorenanalyse (Maximum Likelihood, Promax) bestimmt "
    "[@hendrickson1964; @macketanz2022], ihre Zahl mit der Parallelanalyse [@horn1965] neben Velicers Kriterium "
    "[@velicer1976], nach einem Blick auf die Eignung der Daten [@kaiser1974].",
    "part.consensus": "Das Label jedes Items [wurde|wird] zusammen mit den Fehlern der Personen geschätzt "
    "[@dawid1979].",
    "unmeasured": "Es wurde nichts gemessen (Meldung auf Englisch: {why}).",
    "software": "Alles wurde mit karat {karat} berechnet ({others}).",
    "software.planned": "Alles wird mit karat {karat} berechnet.",
}  # fmt: skip

NAMES = {
    "eligibility": "Eignung", "quiz": "Verständnisquiz", "completion": "Vollständigkeit", "speed": "Tempo",
    "remfod": "Antwortzeiten (ReMFOD)", "controls": "Kontrollsätze", "attention": "Aufmerksamkeitstrials",
    "straightlining": "Antwortmuster", "inconsistency": "Wiederholte Fragen", "scale_use": "Nutzung der Skala",
    "even_odd": "Gerade-ungerade-Konsistenz", "mahalanobis": "Abstand der Antworten",
    "person_total": "Übereinstimmung mit anderen", "time_filter": "Mittlere Zeit",
    "markov": "Übergänge zwischen Antworten", "risk": "Risikostufe", "deletion": "Änderung des Modells",
    "credence": "Glaubwürdigkeit", "procedure": "Schritte für Crowds",
}  # fmt: skip

GERMAN = Language(
    "de",
    TEXTS | {f"name.{key}": name for key, name in NAMES.items()},
    NOUNS,
    "und",
    ",",
    ".",
    ("„", "“"),
    leading_zero=True,
)
