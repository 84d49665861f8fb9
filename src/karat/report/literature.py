"""The literature to cite: the sources, keys in a text as pandoc and Quarto read them, and the BibTeX file for them.

A text cites by key, [@bates2015; @barr2013]. `cited` finds the keys, `bibtex` writes their entries, `readable` turns
the keys into names and years for a page, and `references` lists the sources as people read them. Only what is certain
stands in the table of sources: one without a DOI has one that was not looked up, or none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from karat.errors import KaratError
from karat.judgments.columns import nearest

CITATION = re.compile(r"\[(@[a-z]+\d*(?:; @[a-z]+\d*)*)\]")
WORDS = {"en": ("and", "manuscript"), "de": ("und", "Manuskript")}
"""Between two authors, and instead of a year."""
SEVERAL = 3
"""From this many authors on, the first stands for all."""


def source(key: str) -> Source:
    """The source of this key.

    >>> source("barr2013").title
    'Random effects structure for confirmatory hypothesis testing: Keep it maximal'
    """
    if key not in SOURCES:
        close = nearest(key, list(SOURCES))
        raise KaratError(f"There is no source {key}" + (f"; did you mean {close}?" if close else "."))
    return SOURCES[key]


def cited(text: str) -> tuple[str, ...]:
    """The keys that a text cites, in the order in which they first come.

    >>> cited("Models were maximal [@barr2013; @bates2015], p adjusted [@holm1979; @barr2013].")
    ('barr2013', 'bates2015', 'holm1979')
    """
    keys = (key.removeprefix("@") for found in CITATION.findall(text) for key in found.split("; "))
    return tuple(dict.fromkeys(keys))


def bibtex(keys: Iterable[str] | None = None) -> str:
    """The entries of these keys, or of all, as a BibTeX file in UTF-8, in alphabetical order.

    >>> print(bibtex(["holm1979"]))
    @article{holm1979,
      author = {Holm, Sture},
      title = {A simple sequentially rejective multiple test procedure},
      year = {1979},
      journal = {Scandinavian Journal of Statistics},
      volume = {6},
      number = {2},
      pages = {65--70},
    }
    <BLANKLINE>
    """
    wanted = sorted(set(SOURCES if keys is None else keys))
    return "\n".join(_entry(source(key)) for key in wanted)


def readable(text: str, language: str = "en") -> str:
    """The text with names and years in place of the keys.

    >>> readable("Mixed models [@bates2015] with Holm's adjustment [@holm1979].")
    "Mixed models (Bates et al., 2015) with Holm's adjustment (Holm, 1979)."
    """

    def cited(found: re.Match[str]) -> str:
        keys = (key.removeprefix("@") for key in found.group(1).split("; "))
        return "(" + "; ".join(_short(source(key), language) for key in keys) + ")"

    return CITATION.sub(cited, text)


def references(keys: Sequence[str], language: str = "en") -> list[str]:
    """The sources of these keys as a list of references, in alphabetical order.

    >>> references(["brennan2001"])
    ['Brennan, Robert L. (2001). Generalizability theory. Springer.']
    """
    found = sorted((source(key) for key in set(keys)), key=lambda one: (one.authors[0].casefold(), one.year))
    return [_reference(one, language) for one in found]


def _entry(one: Source) -> str:
    fields = {"author": " and ".join(one.authors), "title": one.title, "year": one.year, **one.fields}
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{one.kind}{{{one.key},", *lines, "}\n"])


def _short(one: Source, language: str) -> str:
    joint, undated = WORDS[language]
    names = [author.partition(",")[0] for author in one.authors]
    who = f"{names[0]} et al." if len(names) >= SEVERAL else f" {joint} ".join(names)
    return f"{who}, {one.year or undated}"


def _reference(one: Source, language: str) -> str:
    joint, undated = WORDS[language]
    who = "; ".join(one.authors[:-1]) + (f" {joint} " if len(one.authors) > 1 else "") + one.authors[-1]
    title = one.title.replace("{", "").replace("}", "")
    parts = [f"{who} ({one.year or undated}). {title}."]
    place = one.fields
    if "journal" in place:
        issue = place["volume"] + (f"({place['number']})" if "number" in place else "")
        parts.append(f"{place['journal']} {issue}, {place['pages'].replace('--', '–')}.")
    elif "booktitle" in place:
        parts.append(place["booktitle"].replace("{", "").replace("}", "") + ".")
    elif "eprint" in place:
        parts.append(f"{place['archiveprefix']}:{place['eprint']}.")
    else:
        parts.append(f"{place.get('publisher', place.get('note', ''))}.")
    if "doi" in place:
        parts.append(f"https://doi.org/{place['doi']}")
    return " ".join(parts)


@dataclass(frozen=True)
class Source:
    """One entry of the literature."""

    key: str
    kind: str
    """The type of the BibTeX entry."""
    authors: tuple[str, ...]
    """Family name, comma, given names."""
    title: str
    year: str
    """Empty for a manuscript without a date."""
    fields: dict[str, str] = field(default_factory=dict)
    """Further fields of the entry, such as journal, volume, pages and doi."""


def _article(
    key: str, authors: str, year: int, title: str, journal: str, volume: str, number: str, pages: str, doi: str = ""
) -> Source:
    given = {"journal": journal, "volume": volume, "number": number, "pages": pages, "doi": doi}
    return Source(
        key, "article", tuple(authors.split("; ")), title, str(year), {name: one for name, one in given.items() if one}
    )


SOURCES: dict[str, Source] = {
    source.key: source
    for source in (
        Source(
            "pieper", "unpublished", ("Pieper, Jutta", "Börner, Alicia Katharina", "Kiss, Tibor"),
            "Identifying non-cooperative participation in web-based elicitation of acceptability judgments: How to get "
            "rid of noise in your data", "",
            {"note": "Manuscript, Linguistic Data Science Lab, Ruhr-University Bochum"},
        ),
        Source(
            "haeussler2016", "inproceedings", ("Häussler, Jana", "Juzek, Tom"),
            "Detecting and discouraging non-cooperative behavior in online experiments using an acceptability judgment "
            "task", "2016",
            {"booktitle": "A blend of {MaLT}: Selected contributions from the Methods and Linguistic Theories "
             "Symposium 2015", "publisher": "University of Bamberg Press"},
        ),
        _article("langsford2018", "Langsford, Steven; Perfors, A.; Hendrickson, Andrew T.; Kennedy, Lauren A.; "
                 "Navarro, Danielle J.", 2018, "Quantifying sentence acceptability measures: Reliability, bias, and "
                 "variability", "Glossa: a journal of general linguistics", "3", "1", "37", "10.5334/gjgl.396"),
        Source(
            "ba2024", "misc", ("Ba, Yang", "Mancenido, Michelle V.", "Chiou, Erin K.", "Pan, Rong"),
            "Data quality in crowdsourcing and spamming behavior detection", "2024",
            {"eprint": "2404.17582", "archiveprefix": "arXiv", "doi": "10.48550/arXiv.2404.17582"},
        ),
        Source(
            "macketanz2022", "inproceedings",
            ("Macketanz, Vivien", "Schmidt, Steven", "Naderi, Babak", "Möller, Sebastian"),
            "Perceptual quality dimensions of machine-generated text with a focus on machine translation", "2022",
            {"booktitle": "Proceedings of the 2nd Workshop on Human Evaluation of NLP Systems (HumEval)",
             "publisher": "Association for Computational Linguistics"},
        ),
        _article("brysbaert2019", "Brysbaert, Marc", 2019, "How many words do we read per minute? A review and "
                 "meta-analysis of reading rate", "Journal of Memory and Language", "109", "", "104047",
                 "10.1016/j.jml.2019.104047"),
        _article("soukoreff2004", "Soukoreff, R. William; MacKenzie, I. Scott", 2004, "Towards a standard for pointing "
                 "device evaluation, perspectives on 27 years of Fitts' law research in HCI",
                 "International Journal of Human-Computer Studies", "61", "6", "751--789",
                 "10.1016/j.ijhcs.2004.09.001"),
        _article("flash1985", "Flash, Tamar; Hogan, Neville", 1985, "The coordination of arm movements: An "
                 "experimentally confirmed mathematical model", "Journal of Neuroscience", "5", "7", "1688--1703",
                 "10.1523/JNEUROSCI.05-07-01688.1985"),
        Source(
            "dhakal2018", "inproceedings",
            ("Dhakal, Vivek", "Feit, Anna Maria", "Kristensson, Per Ola", "Oulasvirta, Antti"),
            "Observations on typing from 136 million keystrokes", "2018",
            {"booktitle": "Proceedings of the 2018 CHI Conference on Human Factors in Computing Systems",
             "publisher": "ACM", "doi": "10.1145/3173574.3174220"},
        ),
        _article("thurstone1927", "Thurstone, Louis Leon", 1927, "A law of comparative judgment",
                 "Psychological Review", "34", "4", "273--286", "10.1037/h0070288"),
        _article("bradley1952", "Bradley, Ralph Allan; Terry, Milton E.", 1952, "Rank analysis of incomplete block "
                 "designs: {I}. The method of paired comparisons", "Biometrika", "39", "3/4", "324--345",
                 "10.2307/2334029"),
        _article("davidson1970", "Davidson, Roger R.", 1970, "On extending the {Bradley-Terry} model to accommodate "
                 "ties in paired comparison experiments", "Journal of the American Statistical Association", "65",
                 "329", "317--328", "10.1080/01621459.1970.10481082"),
        Source("krippendorff2004", "book", ("Krippendorff, Klaus",),
               "Content analysis: An introduction to its methodology", "2004",
               {"edition": "2", "publisher": "Sage"}),
        _article("dawid1979", "Dawid, Alexander Philip; Skene, Allan M.", 1979, "Maximum likelihood estimation of "
                 "observer error-rates using the {EM} algorithm", "Applied Statistics", "28", "1", "20--28",
                 "10.2307/2346806"),
        _article("bates2015", "Bates, Douglas; Mächler, Martin; Bolker, Ben; Walker, Steve", 2015, "Fitting linear "
                 "mixed-effects models using lme4", "Journal of Statistical Software", "67", "1", "1--48",
                 "10.18637/jss.v067.i01"),
        _article("barr2013", "Barr, Dale J.; Levy, Roger; Scheepers, Christoph; Tily, Harry J.", 2013, "Random effects "
                 "structure for confirmatory hypothesis testing: Keep it maximal", "Journal of Memory and Language",
                 "68", "3", "255--278", "10.1016/j.jml.2012.11.001"),
        _article("mccullagh1980", "McCullagh, Peter", 1980, "Regression models for ordinal data", "Journal of the "
                 "Royal Statistical Society: Series B", "42", "2", "109--142"),
        _article("satterthwaite1946", "Satterthwaite, Franklin E.", 1946, "An approximate distribution of estimates of "
                 "variance components", "Biometrics Bulletin", "2", "6", "110--114", "10.2307/3002019"),
        _article("kenward1997", "Kenward, Michael G.; Roger, James H.", 1997, "Small sample inference for fixed "
                 "effects from restricted maximum likelihood", "Biometrics", "53", "3", "983--997", "10.2307/2533558"),
        _article("halekoh2014", "Halekoh, Ulrich; Højsgaard, Søren", 2014, "A {Kenward-Roger} approximation and "
                 "parametric bootstrap methods for tests in linear mixed models: The {R} package pbkrtest",
                 "Journal of Statistical Software", "59", "9", "1--32", "10.18637/jss.v059.i09"),
        _article("kuznetsova2017", "Kuznetsova, Alexandra; Brockhoff, Per B.; Christensen, Rune H. B.", 2017,
                 "{lmerTest} package: Tests in linear mixed effects models", "Journal of Statistical Software", "82",
                 "13", "1--26", "10.18637/jss.v082.i13"),
        _article("holm1979", "Holm, Sture", 1979, "A simple sequentially rejective multiple test procedure",
                 "Scandinavian Journal of Statistics", "6", "2", "65--70"),
        _article("wilson1927", "Wilson, Edwin B.", 1927, "Probable inference, the law of succession, and statistical "
                 "inference", "Journal of the American Statistical Association", "22", "158", "209--212",
                 "10.1080/01621459.1927.10502953"),
        _article("bard1996", "Bard, Ellen Gurman; Robertson, Dan; Sorace, Antonella", 1996, "Magnitude estimation of "
                 "linguistic acceptability", "Language", "72", "1", "32--68", "10.2307/416793"),
        Source("osgood1957", "book", ("Osgood, Charles E.", "Suci, George J.", "Tannenbaum, Percy H."),
               "The measurement of meaning", "1957", {"publisher": "University of Illinois Press"}),
        _article("miller1991", "Miller, Jeff", 1991, "Reaction time analysis with outlier exclusion: Bias varies with "
                 "sample size", "The Quarterly Journal of Experimental Psychology Section A", "43", "4", "907--912",
                 "10.1080/14640749108400962"),
        _article("leys2013", "Leys, Christophe; Ley, Christophe; Klein, Olivier; Bernard, Philippe; Licata, Laurent",
                 2013, "Detecting outliers: Do not use standard deviation around the mean, use absolute deviation "
                 "around the median", "Journal of Experimental Social Psychology", "49", "4", "764--766",
                 "10.1016/j.jesp.2013.03.013"),
        _article("meade2012", "Meade, Adam W.; Craig, S. Bartholomew", 2012, "Identifying careless responses in survey "
                 "data", "Psychological Methods", "17", "3", "437--455", "10.1037/a0028085"),
        _article("curran2016", "Curran, Paul G.", 2016, "Methods for the detection of carelessly invalid responses in "
                 "survey data", "Journal of Experimental Social Psychology", "66", "", "4--19",
                 "10.1016/j.jesp.2015.07.006"),
        _article("johnson2005", "Johnson, John A.", 2005, "Ascertaining the validity of individual protocols from "
                 "web-based personality inventories", "Journal of Research in Personality", "39", "1", "103--129",
                 "10.1016/j.jrp.2004.09.009"),
        _article("mahalanobis1936", "Mahalanobis, Prasanta Chandra", 1936, "On the generalised distance in statistics",
                 "Proceedings of the National Institute of Sciences of India", "2", "1", "49--55"),
        _article("schilling1990", "Schilling, Mark F.", 1990, "The longest run of heads", "The College Mathematics "
                 "Journal", "21", "3", "196--207"),
        _article("horn1965", "Horn, John L.", 1965, "A rationale and test for the number of factors in factor analysis",
                 "Psychometrika", "30", "2", "179--185", "10.1007/BF02289447"),
        _article("velicer1976", "Velicer, Wayne F.", 1976, "Determining the number of components from the matrix of "
                 "partial correlations", "Psychometrika", "41", "3", "321--327", "10.1007/BF02293557"),
        _article("hoffman2014", "Hoffman, Matthew D.; Gelman, Andrew", 2014, "The {No-U-Turn} sampler: Adaptively "
                 "setting path lengths in {Hamiltonian Monte Carlo}", "Journal of Machine Learning Research", "15", "",
                 "1593--1623", ""),
        _article("wagenmakers2010", "Wagenmakers, Eric-Jan; Lodewyckx, Tom; Kuriyal, Himanshu; Grasman, Raoul", 2010,
                 "Bayesian hypothesis testing for psychologists: A tutorial on the {Savage--Dickey} method",
                 "Cognitive Psychology", "60", "3", "158--189", "10.1016/j.cogpsych.2009.12.001"),
        _article("hendrickson1964", "Hendrickson, Alan E.; White, Paul Owen", 1964, "Promax: A quick method for "
                 "rotation to oblique simple structure", "British Journal of Statistical Psychology", "17", "1",
                 "65--70", "10.1111/j.2044-8317.1964.tb00244.x"),
        _article("kaiser1974", "Kaiser, Henry F.; Rice, John", 1974, "Little jiffy, mark {IV}", "Educational and "
                 "Psychological Measurement", "34", "1", "111--117", "10.1177/001316447403400115"),
        _article("mcgraw1996", "McGraw, Kenneth O.; Wong, S. P.", 1996, "Forming inferences about some intraclass "
                 "correlation coefficients", "Psychological Methods", "1", "1", "30--46",
                 "10.1037/1082-989X.1.1.30"),
        _article("nili2014", "Nili, Hamed; Wingfield, Cai; Walther, Alexander; Su, Li; Marslen-Wilson, William; "
                 "Kriegeskorte, Nikolaus", 2014, "A toolbox for representational similarity analysis", "PLoS "
                 "Computational Biology", "10", "4", "e1003553", "10.1371/journal.pcbi.1003553"),
        Source("brennan2001", "book", ("Brennan, Robert L.",), "Generalizability theory", "2001",
               {"publisher": "Springer"}),
        _article("deleeuw2015", "de Leeuw, Joshua R.", 2015, "{jsPsych}: A {JavaScript} library for creating "
                 "behavioral experiments in a web browser", "Behavior Research Methods", "47", "1", "1--12",
                 "10.3758/s13428-014-0458-y"),
    )
}  # fmt: skip
"""The sources by their key."""
